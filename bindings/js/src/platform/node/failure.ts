import { InvalidArgumentError } from '../../generated/errors.ts'
import type { Failure } from '../platform.ts'

/** Where an exchange stood when it failed. */
export interface Standing {
  /** host:port of the peer. */
  peer: string
  /** A TCP connection was had. */
  connected: boolean
  /** The connection may carry requests: TLS, where there is any, is done. */
  ready: boolean
  /** The connection had served another request before. */
  reused: boolean
  /** The answer's head has come. */
  answered: boolean
}

/** A proxy that could not be used. */
export class ProxyError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message)
  }
}

const lost = 'the connection ended inside the exchange: '

/** Says why an exchange failed, from Node's error and from how far it had come. */
export function failureOf(error: unknown, at: Standing): Failure {
  if (error instanceof ProxyError) return error.failure
  if (error instanceof InvalidArgumentError)
    return { kind: 'other', host: at.peer, message: error.message, refusal: error }
  const { code, syscall, message } = details(error)
  const host = at.peer
  if (syscall === 'getaddrinfo')
    return { kind: 'resolve', host, message: `the name does not resolve: ${code}` }
  if (!at.connected) {
    const kind = code === 'ECONNREFUSED' ? 'refused' : 'connect'
    return { kind, host, message: `cannot connect: ${message}` }
  }
  if (!at.ready) return { kind: 'tls', host, message: `TLS handshake failed: ${message}` }
  if (code === 'ETIMEDOUT')
    return { kind: 'send', host, message: 'the connection stopped answering' }
  if (resets.has(code)) {
    // A kept connection that ends before any answer was probably closed by the peer in between.
    const kind = at.reused && !at.answered ? 'send' : 'reset'
    return { kind, host, message: lost + message }
  }
  return { kind: 'other', host, message }
}

const resets = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'HPE_INVALID_EOF_STATE',
  'ERR_STREAM_PREMATURE_CLOSE',
])

/** An error of several tries (one for each address) speaks by its first one. */
function details(error: unknown): { code: string; syscall: string; message: string } {
  const e = (error instanceof AggregateError ? error.errors[0] : error) as
    | Partial<NodeJS.ErrnoException>
    | undefined
  return { code: e?.code ?? '', syscall: e?.syscall ?? '', message: e?.message ?? 'unknown' }
}
