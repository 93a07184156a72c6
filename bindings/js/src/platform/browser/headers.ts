/**
 * What a page may not set, or what only costs it: a browser speaks of itself, packs as it likes,
 * and counts the body itself. Everything else is sent as it came.
 */
const browsersOwn = new Set([
  'accept-charset',
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'date',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
])

export function outgoing(headers: readonly [string, string][]): Headers {
  const out = new Headers()
  for (const [name, value] of headers) {
    if (!browsersOwn.has(name.toLowerCase())) out.append(name, value)
  }
  return out
}

/**
 * The headers of an answer. Its body has been unpacked already, so that nothing may tell of the
 * packed form, its length included. Where the answer does not let a page see whether it was packed,
 * its length tells nothing either.
 */
export function incoming(response: Response): [string, string][] {
  const packed = response.headers.has('content-encoding')
  const hidden = response.type === 'cors'
  const pairs: [string, string][] = []
  for (const [name, value] of response.headers) {
    if (name === 'content-encoding' || (name === 'content-length' && (packed || hidden))) continue
    pairs.push([name, value])
  }
  return pairs
}
