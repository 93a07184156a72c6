// What the suites share: a sandbox per file, waiting, and direct HTTP.
import assert from 'node:assert/strict'
import http from 'node:http'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Sandbox } from 'e2b'

export const API_URL = process.env.E2B_API_URL
export const API_KEY = process.env.E2B_API_KEY

/** One sandbox for all tests of the calling file. */
export function sandbox(options = {}) {
  const held = {}
  before(async () => {
    held.box = await Sandbox.create({ timeoutMs: 120_000, ...options })
  })
  after(() => held.box?.kill())
  return held
}

/** A sandbox that ends with the test t. */
export async function made(t, options = {}) {
  const box = await Sandbox.create({ timeoutMs: 60_000, ...options })
  t.after(() => box.kill())
  return box
}

/** Waits until check gives something true, and returns that. */
export async function until(what, check, limitMs = 5000) {
  const end = Date.now() + limitMs
  for (;;) {
    const got = await check()
    if (got) return got
    if (Date.now() > end) assert.fail(`not within ${limitMs} ms: ${what}`)
    await sleep(20)
  }
}

/**
 * Sends a request to the server's address with any Host header, which fetch
 * refuses to set. No name has to resolve.
 */
export function request(host, path, { method = 'GET', headers = {}, body } = {}) {
  const { hostname, port } = new URL(API_URL)
  return new Promise((resolve, reject) => {
    const req = http.request({ hostname, port, path, method, headers: { ...headers, Host: host } }, (res) => {
      const parts = []
      res.on('data', (part) => parts.push(part))
      res.on('error', reject)
      res.on('end', () =>
        resolve({ status: res.statusCode, headers: res.headers, text: Buffer.concat(parts).toString() })
      )
    })
    req.on('error', reject)
    req.end(body)
  })
}

export { assert, sleep }
