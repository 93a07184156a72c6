// What every page here does; `where` comes from the address of the page.
export async function work(Sandbox, where, options = {}) {
  const sandbox = await Sandbox.create('python-base', {
    apiKey: where.get('key'),
    apiUrl: where.get('api'),
    ...options,
  })
  try {
    const result = await sandbox.commands.run('echo hello')
    await sandbox.files.write('/home/user/b.bin', new Blob([Uint8Array.of(0, 255, 10)]))
    const back = await sandbox.files.read('/home/user/b.bin', { format: 'bytes' })
    return `${result.stdout.trim()} ${[...back]}`
  } finally {
    await sandbox.kill()
  }
}
