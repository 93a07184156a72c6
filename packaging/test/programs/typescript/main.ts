import {
  CommandExitError,
  type CommandResult,
  type EntryInfo,
  FileType,
  Sandbox,
  SandboxError,
} from 'agent-sandbox'

export interface Outcome {
  readonly result: CommandResult
  readonly entries: EntryInfo[]
}

/** A boolean that is not known when this is compiled must fit, too. */
export async function start(sandbox: Sandbox, background: boolean): Promise<void> {
  const outcome = await sandbox.commands.run('true', { background })
  void outcome
}

async function work(signal: AbortSignal): Promise<Outcome> {
  await using sandbox = await Sandbox.create('python-base', {
    timeoutMs: 60_000,
    metadata: { of: 'typescript' },
    signal,
  })
  const result = await sandbox.commands.run(['echo', 'hello'], {
    onStdout: (text: string) => void text,
  })
  await using handle = await sandbox.commands.run('echo from the background', { background: true })
  for await (const piece of handle) {
    const data: Uint8Array = piece.data
    void data
  }
  await start(sandbox, false)
  await sandbox.files.write('/home/user/a.txt', new Blob(['a']))
  const text: string = await sandbox.files.read('/home/user/a.txt')
  const bytes: Uint8Array = await sandbox.files.read('/home/user/a.txt', { format: 'bytes' })
  const stream: ReadableStream<Uint8Array> = await sandbox.files.read('/home/user/a.txt', {
    format: 'stream',
  })
  await stream.cancel()
  if (text.length !== bytes.length) throw new Error('lengths differ')
  try {
    await sandbox.commands.run('exit 3', { check: true })
  } catch (error) {
    if (!(error instanceof CommandExitError) || !(error instanceof SandboxError)) throw error
    console.log(error.code)
  }
  const entries = await sandbox.files.list('/home/user')
  if (entries.find((entry) => entry.name === 'a.txt')?.type !== FileType.FILE)
    throw new Error('no file')
  return { result, entries }
}

work(AbortSignal.timeout(60_000)).then(({ result }) => console.log(result.stdout.trim()))
