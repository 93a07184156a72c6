/**
 * The binary form in which a host and the core speak (wasm/ABI.md).
 *
 *     u32 len | u32 op | u32 stream | u16 kind | u16 flags | payload | zeros up to a multiple of 4
 *
 * Little-endian. len is the payload's length without the zeros. Three forms of payload: JSON,
 * raw bytes, and mixed: u32 n | n bytes of JSON | raw bytes. `op` names an operation and is chosen
 * by the host; `stream` names something inside it and is chosen by the core; 0 = the operation.
 */

/** Host to core. */
export const In = {
  call: 1,
  cancel: 2,
  httpHead: 3,
  httpChunk: 4,
  httpEnd: 5,
  httpError: 6,
  httpWanted: 7,
  wsOpen: 8,
  wsText: 9,
  wsBinary: 10,
  wsClosed: 11,
  timer: 12,
  storeResult: 13,
  input: 14,
  inputEnd: 15,
} as const

/** Core to host. */
export const Out = {
  httpRequest: 64,
  httpBody: 65,
  httpBodyEnd: 66,
  httpAbort: 67,
  bodyToHost: 68,
  bodyToCore: 69,
  wsDial: 70,
  wsText: 71,
  wsBinary: 72,
  wsClose: 73,
  timerSet: 74,
  timerClear: 75,
  store: 76,
  stdout: 77,
  stderr: 78,
  pty: 79,
  event: 80,
  result: 81,
  error: 82,
  done: 83,
  inputWanted: 84,
  messages: 85,
  object: 86,
} as const

/** Version of the ABI. */
export const abiVersion = 1

export const headerSize = 16

/** A frame on its way to the core. Its payload is `json`, `raw`, or both when `mixed`. */
export interface InFrame {
  op: number
  stream: number
  kind: number
  json?: Uint8Array | undefined
  raw?: Uint8Array | undefined
  mixed?: boolean
}

/** The size of a frame with its header and padding. */
export function sizeOf(f: InFrame): number {
  return headerSize + ((payloadSize(f) + 3) & ~3)
}

function payloadSize(f: InFrame): number {
  return (f.mixed ? 4 : 0) + (f.json?.length ?? 0) + (f.raw?.length ?? 0)
}

/** Writes a frame at `at` and gives the position after it. */
export function write(to: Uint8Array, view: DataView, at: number, f: InFrame): number {
  const length = payloadSize(f)
  view.setUint32(at, length, true)
  view.setUint32(at + 4, f.op, true)
  view.setUint32(at + 8, f.stream, true)
  view.setUint16(at + 12, f.kind, true)
  view.setUint16(at + 14, 0, true)
  at += headerSize
  if (f.mixed) {
    view.setUint32(at, f.json?.length ?? 0, true)
    at += 4
  }
  if (f.json) {
    to.set(f.json, at)
    at += f.json.length
  }
  if (f.raw) {
    to.set(f.raw, at)
    at += f.raw.length
  }
  for (let rest = length; rest & 3; rest++) to[at++] = 0
  return at
}

/** A frame from the core. The payload is valid until the core is called again. */
export interface OutFrame {
  op: number
  stream: number
  kind: number
  payload: Uint8Array
}

/** Takes the frames of a block apart, in order. The block may be replaced by a copy while that goes on. */
export function read(from: { block: Uint8Array }, take: (f: OutFrame) => void): void {
  for (let at = 0; at < from.block.length; ) {
    const { block } = from
    const view = new DataView(block.buffer, block.byteOffset + at, headerSize)
    const length = view.getUint32(0, true)
    const start = at + headerSize
    at = start + ((length + 3) & ~3)
    take({
      op: view.getUint32(4, true),
      stream: view.getUint32(8, true),
      kind: view.getUint16(12, true),
      payload: block.subarray(start, start + length),
    })
  }
}

/** Takes a mixed payload apart. */
export function split(payload: Uint8Array): { json: unknown; raw: Uint8Array } {
  const n = new DataView(payload.buffer, payload.byteOffset, 4).getUint32(0, true)
  return { json: parse(payload.subarray(4, 4 + n)), raw: payload.subarray(4 + n) }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** UTF-8 of a text; half a surrogate pair becomes U+FFFD. */
export function encode(text: string): Uint8Array {
  return encoder.encode(text)
}

/** The text of bytes; what is broken becomes U+FFFD. */
export function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** The value of JSON; undefined for no bytes. */
export function parse(bytes: Uint8Array): unknown {
  return bytes.length === 0 ? undefined : JSON.parse(decode(bytes))
}
