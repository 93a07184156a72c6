// What a strict compiler must accept of programs for E2B's SDK, and what it must refuse.

import Sandbox, {
  ALL_TRAFFIC,
  type CommandExitError,
  type CommandHandle,
  type CommandResult,
  type CommandStartOpts,
  type ConnectionOpts,
  E2B,
  type EntryInfo,
  type Filesystem,
  type FilesystemEvent,
  FilesystemEventType,
  FileType,
  type Pty,
  type SandboxConnectOpts,
  type SandboxInfo,
  type SandboxListOpts,
  type SandboxMetrics,
  type SandboxNetworkOpts,
  type SandboxOpts,
  type SandboxPaginator,
  type SandboxState,
  TimeoutError,
  type WatchHandle,
  type WriteInfo,
} from 'agent-sandbox/e2b'
import Interpreter, {
  type Sandbox as Code,
  type Context,
  type Execution,
  type ExecutionError,
  type OutputMessage,
  type Result,
} from 'agent-sandbox/e2b/code-interpreter'

class Mine extends Sandbox {
  static override readonly defaultTemplate = 'mine'

  hello(): Promise<CommandResult> {
    return this.commands.run('echo hello')
  }
}

const network: SandboxNetworkOpts = { denyOut: [ALL_TRAFFIC], allowOut: (c) => [...c.rules.keys()] }
const connection: ConnectionOpts = { apiKey: 'k', logger: console, requestTimeoutMs: 1000 }
const options: SandboxOpts = {
  ...connection,
  template: 'base',
  timeoutMs: 60_000,
  secure: true,
  metadata: { a: 'b' },
  envs: { A: 'b' },
  allowInternetAccess: false,
  network,
  lifecycle: { onTimeout: 'pause', autoResume: true },
}
const start: CommandStartOpts = { cwd: '/', user: 'root', onStdout: (text) => text.length as never }

export async function plain(signal: AbortSignal): Promise<void> {
  const mine: Mine = await Mine.create('base', options)
  await mine.hello()
  await using sandbox = await Sandbox.create({ ...options, signal })
  const result: CommandResult = await sandbox.commands.run('true', { ...start, background: false })
  const handle: CommandHandle = await sandbox.commands.run('true', { background: true })
  const exitCode: number | undefined = handle.exitCode
  const files: Filesystem = sandbox.files
  const text: string = await files.read('a')
  const bytes: Uint8Array = await files.read('a', { format: 'bytes' })
  const stream: ReadableStream<Uint8Array> = await files.read('a', { format: 'stream' })
  const written: WriteInfo = await files.write('a', new ArrayBuffer(1), { user: 'root' })
  const several: WriteInfo[] = await files.write([{ path: 'a', data: 'x' }])
  const entries: EntryInfo[] = await files.list('.', { depth: 2 })
  const directories = entries.filter((entry) => entry.type === FileType.DIR)
  const watch: WatchHandle = await files.watchDir('.', (event: FilesystemEvent) => {
    if (event.type === FilesystemEventType.WRITE) console.log(event.name)
  })
  await watch.stop()
  const pty: Pty = sandbox.pty
  await pty.create({ cols: 80, rows: 24, onData: (data: Uint8Array) => console.log(data) })
  const query: SandboxListOpts = { query: { state: ['running'] } }
  const pages: SandboxPaginator = Sandbox.list(query)
  const infos: SandboxInfo[] = await pages.nextItems()
  const state: SandboxState | undefined = infos[0]?.state
  const metrics: SandboxMetrics[] = await sandbox.getMetrics({ start: new Date() })
  const connect: SandboxConnectOpts = { timeoutMs: 1000, onResume: 'reboot' }
  await (await Sandbox.connect('id', connect)).setTimeout(1000)
  await new E2B({ apiKey: 'k' }).Sandbox.create('base', { timeoutMs: 1 })
  console.log(result.stdout, exitCode, text, bytes, stream, written, several, state, metrics)
  console.log(directories, await sandbox.downloadUrl('a', { useSignatureExpiration: 10 }))
  // @ts-expect-error: there is no such option
  await sandbox.commands.run('true', { timeout: 5 })
}

export async function code(): Promise<string | undefined> {
  const sandbox: Code = await Interpreter.create({ timeoutMs: 1000 })
  const context: Context = await sandbox.createCodeContext({ language: 'python', cwd: '/' })
  try {
    const execution: Execution = await sandbox.runCode('1', {
      context,
      onStdout: (message: OutputMessage) => console.log(message.line, message.timestamp + 1),
      onResult: (result: Result) => console.log(result.png),
      onError: (error: ExecutionError) => console.log(error.traceback),
    })
    return execution.text
  } catch (error) {
    if (error instanceof TimeoutError) return error.message
    return (error as CommandExitError).stdout
  }
}
