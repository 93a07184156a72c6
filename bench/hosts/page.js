// The page of browser.mjs: imports the package, runs a first command, and then
// takes jobs.
const began = performance.now()
const where = new URLSearchParams(location.search)
const { Sandbox } = await import('/browser.mjs')
const sandbox = await Sandbox.connect(where.get('id'), {
  apiKey: where.get('key'),
  apiUrl: where.get('api'),
})
await sandbox.commands.run('true')
globalThis.first = performance.now() - began

const patience = { requestTimeoutMs: 600_000 }
// A Blob: what drives the page copies bodies of bytes into its own protocol, as one string.
let kept = new Blob()
function ones(bytes) {
  if (kept.size !== bytes) kept = new Blob([new Uint8Array(bytes).fill(1)])
  return kept
}
const same = (want, got) => {
  if (want !== got) throw new Error(`${got} instead of ${want}`)
}

const jobs = {
  run: () => sandbox.commands.run('true'),
  stdout: async ({ bytes }) =>
    same(
      bytes,
      (
        await sandbox.commands.run(`dd if=/dev/zero bs=64k count=${bytes / 65536} status=none`, {
          ...patience,
          timeoutMs: 0,
        })
      ).stdout.length,
    ),
  upload: ({ path, bytes }) => sandbox.files.write(path, ones(bytes), patience),
  download: async ({ path, bytes }) =>
    same(bytes, (await sandbox.files.read(path, { ...patience, format: 'bytes' })).length),
  bare_upload: async ({ url, bytes }) =>
    same(
      200,
      (
        await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/octet-stream' },
          body: ones(bytes),
        })
      ).status,
    ),
  bare_download: async ({ url, bytes }) =>
    same(bytes, (await (await fetch(url)).arrayBuffer()).byteLength),
}

globalThis.bench = async (job) => {
  const ms = []
  for (let i = 0; i < (job.n ?? 1); i++) {
    const start = performance.now()
    await jobs[job.op](job)
    ms.push(performance.now() - start)
  }
  return { ms, rss: 0 }
}
