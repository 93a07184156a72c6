import type { Listener, Operation } from './engine/operation.ts'
import { InvalidArgumentError } from './generated/errors.ts'
import { type FilesystemEvent, readFilesystemEvent } from './generated/types.ts'
import { runtime } from './runtime.ts'

interface Begin {
  onEvent: ((event: FilesystemEvent) => void | Promise<void>) | undefined
  onExit: ((error?: Error) => void | Promise<void>) | undefined
  signal: AbortSignal | undefined
}

/** How many events may wait for a reader. */
const waitingLimit = 4096

/** A watch that goes on until it is stopped. Read its events with `for await`, unless `onEvent` takes them. */
export class WatchHandle implements AsyncIterable<FilesystemEvent>, AsyncDisposable {
  readonly #operation: Operation
  readonly #events: Events

  private constructor(operation: Operation, events: Events) {
    this.#operation = operation
    this.#events = events
  }

  /** @internal */
  static async start(begin: (listener: Listener) => Operation, o: Begin): Promise<WatchHandle> {
    const events = new Events(o.onEvent)
    const operation = begin(events)
    events.of(operation, o.onExit)
    const cancel = () => operation.cancel(o.signal?.reason)
    o.signal?.addEventListener('abort', cancel, { once: true })
    try {
      await Promise.race([events.started, operation.result])
      return new WatchHandle(operation, events)
    } finally {
      o.signal?.removeEventListener('abort', cancel)
    }
  }

  /** Ends the watch. No callback begins after it returns. */
  stop(): void {
    this.#events.stop()
    this.#operation.cancel(stopped)
  }

  /** Waits for the end: of `stop()`, or with the error that ended the watch. Not to be called inside of `onEvent`. */
  async wait(): Promise<void> {
    this.#events.checkWait()
    await this.#events.end
  }

  /** The changes, in order. It ends with `stop()`, and throws what ended the watch. */
  async *[Symbol.asyncIterator](): AsyncGenerator<FilesystemEvent, void, undefined> {
    for (let event = await this.#events.next(); event; event = await this.#events.next())
      yield event
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop()
  }
}

const stopped = new Error('the watch was stopped')

/** The events of one watch, on their way to a callback or a reader. */
class Events implements Listener {
  readonly #onEvent: Begin['onEvent']
  #queue: FilesystemEvent[] = []
  #operation: Operation | undefined
  #calling = false
  #wake: (() => void) | undefined
  #over = false
  #start!: () => void
  readonly started: Promise<void>
  end!: Promise<void>

  constructor(onEvent: Begin['onEvent']) {
    this.#onEvent = onEvent
    this.started = new Promise((resolve) => {
      this.#start = resolve
    })
  }

  of(operation: Operation, onExit: Begin['onExit']): void {
    this.#operation = operation
    this.end = operation.result.then(
      () => {},
      (error) => {
        if (error !== stopped) throw error
      },
    )
    const exit = async (error?: Error) => {
      this.#over = true
      this.#wakeUp()
      await onExit?.(error)
    }
    this.end.then(() => exit(), exit).catch(() => {})
  }

  output(): void {}

  event(event: { kind: string; event?: unknown }): void {
    if (event.kind === 'started') return this.#start()
    if (event.kind !== 'watch') return
    this.#queue.push(readFilesystemEvent(event.event))
    this.#wakeUp()
    // Not now: a callback may call the core, which is in the middle of its answer.
    if (this.#onEvent) queueMicrotask(() => void this.#call())
    else this.#regulate()
  }

  /** Refuses to wait for the end where a callback would hold it up. */
  checkWait(): void {
    if (this.#over || !runtime().scopes.within(this)) return
    throw new InvalidArgumentError('wait() inside onEvent of the same watch would never return', {
      suggestion: 'wait outside of it; stop() may be called inside',
    })
  }

  stop(): void {
    this.#queue = []
    this.#over = true
    this.#wakeUp()
  }

  async next(): Promise<FilesystemEvent | undefined> {
    for (;;) {
      const event = this.#queue.shift()
      this.#regulate()
      if (event) return event
      if (this.#over) {
        await this.end
        return undefined
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async #call(): Promise<void> {
    if (this.#calling) return
    this.#calling = true
    try {
      for (let event = this.#queue.shift(); event; event = this.#queue.shift()) {
        const done = this.#onEvent && runtime().scopes.run(this, () => this.#onEvent?.(event))
        if (!done) continue
        this.#operation?.hold(true)
        await done
      }
    } catch (error) {
      this.#queue = []
      this.#operation?.cancel(error)
    } finally {
      this.#calling = false
      this.#operation?.hold(false)
    }
  }

  #regulate(): void {
    this.#operation?.hold(this.#queue.length > waitingLimit)
  }

  #wakeUp(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}
