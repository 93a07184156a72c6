// client.mjs PACKAGE SANDBOX: one npm package, ours or the peer's, driven by lines
// of JSON (see bench/process.go). PACKAGE `none` has the bare HTTP jobs alone.
import { request } from 'node:http'
import { createInterface } from 'node:readline'

const [name, id] = process.argv.slice(2)
const sandbox = name === 'none' ? undefined : await (await import(name)).Sandbox.connect(id)
const patience = { requestTimeoutMs: 600_000 }

const jobs = {
  run: () => sandbox.commands.run('true'),
  stdout: async ({ bytes }) =>
    same(
      bytes,
      (await sandbox.commands.run(zeros(bytes), { ...patience, timeoutMs: 0 })).stdout.length,
    ),
  upload: ({ path, bytes }) => sandbox.files.write(path, ones(bytes), { ...patience, gzip: false }),
  download: async ({ path, bytes }) =>
    same(
      bytes,
      (await sandbox.files.read(path, { ...patience, format: 'bytes', gzip: false })).length,
    ),
  pass: async ({ path, bytes }) => {
    let seen = 0
    for await (const chunk of await sandbox.files.read(path, {
      ...patience,
      format: 'stream',
      gzip: false,
    }))
      seen += chunk.length
    same(bytes, seen)
  },
  bare_upload: ({ url, bytes }) =>
    exchange(
      url,
      { method: 'POST', headers: { 'content-type': 'application/octet-stream' } },
      ones(bytes),
    ),
  bare_download: async ({ url, bytes }) => same(bytes, (await exchange(url, {})).length),
  code: async ({ code, form, count }) => {
    const { logs, results, error } = await sandbox.runCode(code, { ...patience, timeoutMs: 0 })
    if (error) throw new Error(error.value)
    same(count, form === 'png' ? results[0].png.length : logs.stdout.join('').length)
  },
  parallel: ({ count }) =>
    Promise.all(
      Array.from({ length: count }, async (_, i) =>
        same(`${i}`, (await sandbox.commands.run(`echo ${i}`)).stdout.trim()),
      ),
    ),
}

const zeros = (bytes) => `dd if=/dev/zero bs=64k count=${bytes / 65536} status=none`
const same = (want, got) => {
  if (want !== got) throw new Error(`${got} instead of ${want}`)
}
let kept = new ArrayBuffer(0)
function ones(bytes) {
  if (kept.byteLength !== bytes) kept = new Uint8Array(bytes).fill(1).buffer
  return kept
}

function exchange(url, options, body) {
  // Names below localhost are this machine, which few resolvers know.
  const { host, port, pathname, search } = new URL(url)
  const headers = { host, ...options.headers }
  const asked = { ...options, headers, host: '127.0.0.1', port, path: pathname + search }
  return new Promise((resolve, reject) => {
    const chunks = []
    const sent = request(asked, (answer) => {
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('end', () =>
        answer.statusCode < 300
          ? resolve(Buffer.concat(chunks))
          : reject(new Error(`status ${answer.statusCode}`)),
      )
    })
    sent.on('error', reject)
    sent.end(body && new Uint8Array(body))
  })
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line)
  const ms = []
  try {
    const before = process.cpuUsage()
    for (let i = 0; i < (job.n ?? 1); i++) {
      const began = performance.now()
      await jobs[job.op](job)
      ms.push(performance.now() - began)
    }
    const { user, system } = process.cpuUsage(before)
    console.log(
      JSON.stringify({ ms, cpu: (user + system) / 1000, rss: process.resourceUsage().maxRSS }),
    )
  } catch (error) {
    console.log(JSON.stringify({ error: String(error?.stack ?? error) }))
  }
}
process.exit(0)
