// What every Node program here does, after importing the package in its own way.
exports.work = async (Sandbox) => {
  const sandbox = await Sandbox.create({ template: 'python-base' })
  try {
    const result = await sandbox.commands.run('echo hello')
    process.stdout.write(result.stdout)
    const bytes = Uint8Array.of(0, 1, 2, 255, 254, 0xe2, 0x82)
    await sandbox.files.write('/home/user/a/b.bin', bytes)
    const back = await sandbox.files.read('/home/user/a/b.bin', { format: 'bytes' })
    if (Buffer.compare(back, bytes) !== 0) throw new Error('the bytes came back otherwise')
    const failed = await sandbox.files.read('/nowhere').catch((error) => error)
    console.log(failed.name, failed.code)
  } finally {
    await sandbox.kill()
  }
}
