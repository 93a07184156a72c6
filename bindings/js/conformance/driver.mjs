// The conformance driver of conformance/README.md on the public classes, for Node and for pages:
// it translates names, parameters and results, and decides nothing.

/**
 * Makes a driver. `sdk` is the package; `send` takes one message. It gives a function that takes
 * one message of the runner.
 */
export function createDriver(sdk, send, inspect = String) {
  const sessions = new Map()
  return (m) => {
    if (m.open) {
      sessions.set(m.session, new Session(sdk, m.open, inspect))
      send({ session: m.session, opened: true })
    } else if (m.close) {
      sessions.get(m.session)?.close()
      sessions.delete(m.session)
      send({ session: m.session, closed: true })
    } else if (m.cancel) sessions.get(m.session)?.cancel(m.cancel)
    else sessions.get(m.session)?.call(m, (answer) => send({ session: m.session, ...answer }))
  }
}

class Session {
  handles = new Map()
  watchers = new Map()
  calls = new Map()
  current

  constructor(sdk, setup, inspect) {
    this.sdk = sdk
    this.inspect = inspect
    const settings = { env: setup.env ?? {}, dotenv: setup.dotenv, config: setup.config }
    this.options = { ...camel(setup.arguments ?? {}), proxy: 'direct', settings, store: false }
  }

  close() {
    for (const handle of this.handles.values()) handle.disconnect()
  }

  cancel(id) {
    this.calls.get(id)?.abort()
  }

  async call({ call: id, name, params }, answer) {
    const controller = new AbortController()
    this.calls.set(id, controller)
    const { signal } = controller
    const emit = (kind, value) => answer({ event: id, kind, value })
    try {
      if (!methods[name]) throw new Error(`the driver has no method ${name}`)
      const value = await methods[name](this, camel(params ?? {}), signal, emit)
      answer({ result: id, value: value === undefined ? null : snake(value) })
    } catch (error) {
      answer({ result: id, failure: this.failure(error, signal) })
    } finally {
      this.calls.delete(id)
    }
  }

  failure(e, signal) {
    const texts = []
    for (let at = e; at instanceof Error; at = at.cause) {
      texts.push(String(at), String(at.stack), JSON.stringify(at) ?? '', this.inspect(at))
    }
    if (signal.aborted && e === signal.reason) {
      return { code: 'E5006', message: e.message, cancelled: true, texts }
    }
    const {
      code,
      message,
      suggestion,
      option,
      status,
      requestId,
      retryable,
      retryAfterMs,
      kind,
      clock,
    } = e
    return snake({
      ...{
        code,
        message,
        suggestion,
        option,
        status,
        requestId,
        retryable,
        retryAfterMs,
        kind,
        clock,
      },
      ...{ limitMs: e.limitMs, killed: e.killed, sandboxId: e.sandboxId, pid: e.pid, texts },
      partial: e.partial && (e.partial.results ? execution : result)(e.partial),
    })
  }

  sandbox() {
    if (!this.current) throw new Error('the case has made no sandbox yet')
    return this.current
  }

  take(sandbox) {
    this.current = sandbox
    const { tokens, urls, ...handle } = sandbox.toJSON()
    return { ...handle, secured: Boolean(tokens?.envd) }
  }
}

const methods = {
  'settings.resolve': (s, _p, signal) => s.sdk.resolveSettings({ ...s.options, signal }),
  'sandbox.create': async (s, p, signal) =>
    s.take(await s.sdk.Sandbox.create({ ...s.options, ...p, signal })),
  'sandbox.connect': taking((S, { sandboxId, ...p }) => S.connect(sandboxId, p)),
  'sandbox.resume': taking((S, { sandboxId, ...p }) => S.resume(sandboxId, p)),
  'sandbox.open': async (s, p) => s.take(await s.sdk.Sandbox.fromJSON(snake(p.handle), s.options)),
  'sandbox.to_json': (s) => s.sandbox().toJSON(),
  'sandbox.describe': (s) => String(s.sandbox()),
  'sandbox.capabilities': (s) => s.sandbox().capabilities(),
  'sandbox.kill': managing('kill'),
  'sandbox.get_info': managing('getInfo'),
  'sandbox.pause': managing('pause'),
  'sandbox.set_timeout': managing('setTimeout', 'timeoutMs'),
  'sandbox.keep_alive': managing('keepAlive', 'timeoutMs'),
  'sandbox.is_running': (s, p, signal) => s.sandbox().isRunning({ ...p, signal }),
  'sandbox.get_metrics': (s, p, signal) =>
    s.sandbox().getMetrics({ start: date(p.start), end: date(p.end), signal }),
  'sandbox.update_network': (s, p, signal) => s.sandbox().updateNetwork({ ...p, signal }),
  'sandbox.get_host': (s, p) => s.sandbox().getHost(p.port),
  'sandbox.get_url': (s, p) => s.sandbox().getUrl(p.port),
  'sandbox.download_url': (s, { path, ...p }) => s.sandbox().downloadUrl(path, p),
  'sandbox.upload_url': (s, { path, ...p }) => s.sandbox().uploadUrl(path, p),
  'sandbox.list': async (s, { pages = 0, ...p }, signal) => {
    const all = s.sdk.Sandbox.list({
      ...s.options,
      ...p,
      startedAfter: date(p.startedAfter),
      signal,
    })
    const items = []
    for (let n = 0; n === 0 || n < pages || (pages === 0 && all.hasNext); n++)
      items.push(...(await all.nextItems()))
    return { items, hasNext: all.hasNext, nextToken: all.nextToken ?? '' }
  },

  'sandbox.run_code': async (s, { code, on = [], contextId: context, ...p }, signal, emit) => {
    const options = { ...p, context, signal }
    for (const kind of on) {
      const [name, show] = codeCallbacks[kind]
      options[name] = (value) => emit(kind, show(value))
    }
    return execution(await s.sandbox().runCode(code, options))
  },
  'sandbox.create_code_context': (s, p, signal) => s.sandbox().createCodeContext({ ...p, signal }),
  'sandbox.list_code_contexts': (s, p, signal) => s.sandbox().listCodeContexts({ ...p, signal }),
  'sandbox.restart_code_context': onContext('restartCodeContext'),
  'sandbox.remove_code_context': onContext('removeCodeContext'),
  'sandbox.interrupt_code_context': onContext('interruptCodeContext'),

  'commands.run': async (s, p, signal, emit) =>
    result(await s.sandbox().commands.run(line(p), { ...running(p, emit), signal })),
  'commands.start': starting((s, p, o) =>
    s.sandbox().commands.run(line(p), { ...o, background: true }),
  ),
  'commands.connect': starting((s, p, o) => s.sandbox().commands.connect(p.pid, o)),
  'commands.wait': async (s, p, signal) => result(await s.handles.get(p.as).wait({ signal })),
  'commands.disconnect': (s, p) => s.handles.get(p.as).disconnect(),
  'commands.list': (s, p, signal) => s.sandbox().commands.list({ ...p, signal }),
  'commands.kill': selecting((c) => c.commands, 'kill'),
  'commands.send_signal': (s, { pid, signal: number, ...p }, signal) =>
    s.sandbox().commands.sendSignal(pid, number, { ...p, signal }),
  'commands.close_stdin': selecting((c) => c.commands, 'closeStdin'),
  'commands.send_stdin': (s, { pid, data, ...p }, signal) =>
    s.sandbox().commands.sendStdin(pid, bytes(data), { ...p, signal }),
  'commands.stream_stdin': (s, { pid, pieces, ...p }, signal) =>
    s.sandbox().commands.streamStdin(pid, stream(pieces.map(bytes)), { ...p, signal }),
  'pty.create': starting((s, p, o) =>
    s.sandbox().pty.create({ ...o, cols: p.cols, rows: p.rows, argv: p.argv }),
  ),
  'pty.connect': starting((s, p, o) => s.sandbox().pty.connect(p.pid, o)),
  'pty.send_input': (s, { pid, data, ...p }, signal) =>
    s.sandbox().pty.sendInput(pid, bytes(data), { ...p, signal }),
  'pty.stream_input': (s, { pid, pieces, ...p }, signal) =>
    s.sandbox().pty.streamInput(pid, stream(pieces.map(bytes)), { ...p, signal }),
  'pty.resize': selecting((c) => c.pty, 'resize'),
  'pty.kill': selecting((c) => c.pty, 'kill'),

  'files.read': async (s, { path, format = 'bytes', ...p }, signal) => {
    const got = await s.sandbox().files.read(path, { ...p, format, signal })
    if (format === 'text') return got
    return { bytes: base64(format === 'stream' ? await whole(got) : got) }
  },
  'files.write': (s, { path, data, stream: once, ...p }, signal) =>
    s.sandbox().files.write(path, once ? stream([bytes(data)]) : bytes(data), { ...p, signal }),
  'files.write_files': (s, { files, ...p }, signal) =>
    s.sandbox().files.writeFiles(
      files.map((f) => ({ path: f.path, data: bytes(f.data) })),
      { ...p, signal },
    ),
  'files.list': onPath('list'),
  'files.get_info': onPath('getInfo'),
  'files.exists': onPath('exists'),
  'files.make_dir': onPath('makeDir'),
  'files.remove': onPath('remove'),
  'files.rename': (s, p, signal) =>
    s.sandbox().files.rename(p.source, p.destination, { user: p.user, signal }),
  'files.watch_dir': watch,
  'files.poll_dir': async (s, { path, as, ...p }, signal) => {
    const { watcherId } = await s.sandbox().files.pollDir(path, { ...p, signal })
    s.watchers.set(as, { watcherId, user: p.user })
  },
  'files.poll_events': polled('pollEvents'),
  'files.poll_stop': polled('pollStop'),
}

function taking(open) {
  return async (s, p, signal) => s.take(await open(s.sdk.Sandbox, { ...s.options, ...p, signal }))
}

function managing(name, argument) {
  return (s, { sandboxId, [argument]: first, ...p }, signal) => {
    const given = argument ? [first] : []
    if (sandboxId === undefined && s.current) return s.current[name](...given, { ...p, signal })
    return s.sdk.Sandbox[name](sandboxId, ...given, { ...s.options, ...p, signal })
  }
}

function selecting(part, name) {
  return (s, { pid, ...p }, signal) => part(s.sandbox())[name](pid, { ...p, signal })
}

function onPath(name) {
  return (s, { path, ...p }, signal) => s.sandbox().files[name](path, { ...p, signal })
}

function polled(name) {
  return (s, { as }, signal) => {
    const { watcherId, user } = s.watchers.get(as)
    return s.sandbox().files[name](watcherId, { user, signal })
  }
}

function starting(begin) {
  return async (s, p, signal, emit) => {
    let ready
    const handle = new Promise((resolve) => {
      ready = resolve
    })
    const leaving = async (kind, value) => {
      emit(kind, value)
      if (kind === p.disconnectOn) (await handle).disconnect()
    }
    const started = await begin(s, p, { ...running(p, leaving), signal })
    s.handles.set(p.as, started)
    ready(started)
    return { pid: started.pid }
  }
}

const callbacks = {
  start: ['onStart', (pid) => pid],
  stdout: ['onStdoutBytes', base64],
  stderr: ['onStderrBytes', base64],
  pty: ['onData', base64],
  stdout_text: ['onStdout', (text) => text],
  stderr_text: ['onStderr', (text) => text],
}

function running({ on = [], command, argv, pid, cols, rows, as, disconnectOn, ...options }, emit) {
  for (const kind of on) {
    const [name, show] = callbacks[kind]
    options[name] = (value) => emit(kind, show(value))
  }
  return options
}

function line({ command, argv }) {
  return argv ?? command
}

async function watch(s, { path, events, ...p }, signal, emit) {
  let count = 0
  let ready
  const watching = new Promise((resolve) => {
    ready = resolve
  })
  const change = async (event) => {
    const handle = await watching
    emit('change', snake(event))
    if (++count === events) handle.stop()
  }
  const handle = await s.sandbox().files.watchDir(path, change, { ...p, signal })
  signal.addEventListener('abort', () => handle.stop())
  emit('watching', null)
  ready(handle)
  await handle.wait()
}

// How many bytes of output are also shown as text: more is compared as bytes.
const longText = 65536

function result(r) {
  const { exitCode, ok, signal, error, stdoutBytes, stderrBytes } = r
  const shown = {
    exitCode,
    ok,
    signal,
    error,
    stdoutBytes: base64(stdoutBytes),
    stderrBytes: base64(stderrBytes),
  }
  if (stdoutBytes.length + stderrBytes.length > longText) return shown
  return { ...shown, stdout: r.stdout, stderr: r.stderr }
}

const codeCallbacks = {
  stdout_text: ['onStdout', (m) => m.line],
  stderr_text: ['onStderr', (m) => m.line],
  result: ['onResult', (r) => r.raw],
  error: ['onError', (e) => e],
}

function execution(x) {
  const { text = '', stdout, stderr, logs, error, executionCount } = x
  const results = x.results.map((r) => ({
    formats: r.formats(),
    isMainResult: r.isMainResult,
    raw: r.raw,
    extra: r.extra,
  }))
  const encode = (all) => base64(new TextEncoder().encode(all))
  const shown = {
    ...{ results, text, error, executionCount },
    ...{ stdoutBytes: encode(stdout), stderrBytes: encode(stderr) },
  }
  return stdout.length + stderr.length > longText ? shown : { ...shown, logs }
}

function onContext(name) {
  return (s, { contextId, ...p }, signal) => s.sandbox()[name](contextId, { ...p, signal })
}

function date(value) {
  return value === undefined ? undefined : new Date(value)
}

async function* stream(pieces) {
  yield* pieces
}

async function whole(readable) {
  // Not by a Response: Chromium's hides the error that the stream ends with.
  const pieces = []
  for await (const piece of readable) pieces.push(piece)
  return new Uint8Array(await new Blob(pieces).arrayBuffer())
}

/** The bytes that a case describes. */
function bytes(value) {
  if (typeof value === 'string') return new TextEncoder().encode(value)
  if (!value) return new Uint8Array(0)
  if (value.base64 !== undefined) return Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0))
  if (value.hex !== undefined)
    return Uint8Array.from(value.hex.match(/../g) ?? [], (h) => Number.parseInt(h, 16))
  if (value.repeat) return together(Array(value.repeat[1]).fill(bytes(value.repeat[0])))
  return together(value.join.map(bytes))
}

function together(pieces) {
  const all = new Uint8Array(pieces.reduce((sum, p) => sum + p.length, 0))
  let at = 0
  for (const p of pieces) {
    all.set(p, at)
    at += p.length
  }
  return all
}

function base64(b) {
  let text = ''
  for (let i = 0; i < b.length; i += 8192) text += String.fromCharCode(...b.subarray(i, i + 8192))
  return btoa(text)
}

// Values under these names are the user's own: their keys are data.
const data = new Set(['metadata', 'envs', 'rules', 'headers', 'data', 'pieces', 'from'])

const camel = (value) => renamed(value, (k) => k.replace(/_([a-z])/g, (_, c) => c.toUpperCase()))
const snake = (value) => renamed(value, (k) => k.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`))

function renamed(value, name) {
  if (Array.isArray(value)) return value.map((v) => renamed(v, name))
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [name(k), data.has(k) ? v : renamed(v, name)]),
  )
}
