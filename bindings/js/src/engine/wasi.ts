/** What of wasi_snapshot_preview1 a Go reactor asks for: a calendar, random bytes, and a place for last words. */

const badDescriptor = 8

/** The core has called exit: it can be asked nothing more. */
export class ExitedError extends Error {
  constructor(readonly exitCode: number) {
    super(`the core exited with ${exitCode}`)
  }
}

/** How much of a dying instance's words is kept, in bytes. */
const lastWordsLimit = 16 << 10

/** The imports of one instance. */
export class Wasi {
  #memory: WebAssembly.Memory | undefined
  #view: DataView | undefined
  #words: Uint8Array[] = []
  #wordsSize = 0
  readonly #pool = new Uint8Array(1024)
  #poolUsed = this.#pool.length

  /** Gives the shim the instance's memory. */
  bind(memory: WebAssembly.Memory): void {
    this.#memory = memory
  }

  /** What the instance said on descriptor 2. */
  get lastWords(): string {
    const decoder = new TextDecoder()
    return this.#words.map((w) => decoder.decode(w, { stream: true })).join('')
  }

  /** The import object. */
  get imports(): WebAssembly.Imports {
    const ok = () => 0
    const refused = () => badDescriptor
    const none = (count: number, size: number) => {
      this.#data().setUint32(count, 0, true)
      this.#data().setUint32(size, 0, true)
      return 0
    }
    return {
      wasi_snapshot_preview1: {
        args_get: ok,
        args_sizes_get: none,
        environ_get: ok,
        environ_sizes_get: none,
        clock_time_get: (id: number, _precision: bigint, out: number) => this.#clock(id, out),
        random_get: (at: number, size: number) => this.#random(at, size),
        proc_exit: (code: number) => {
          throw new ExitedError(code)
        },
        sched_yield: ok,
        poll_oneoff: (_in: number, _out: number, _count: number, fired: number) => {
          this.#data().setUint32(fired, 0, true)
          return 0
        },
        fd_write: (fd: number, vectors: number, count: number, written: number) =>
          this.#write(fd, vectors, count, written),
        fd_fdstat_set_flags: ok,
        fd_close: ok,
        fd_read: refused,
        fd_seek: refused,
        fd_fdstat_get: refused,
        fd_prestat_get: refused,
        fd_prestat_dir_name: refused,
      },
    }
  }

  /** The memory's buffer is another one after it has grown. */
  #data(): DataView {
    const { buffer } = this.#memory as WebAssembly.Memory
    if (this.#view?.buffer !== buffer) this.#view = new DataView(buffer)
    return this.#view as DataView
  }

  #clock(id: number, out: number): number {
    const ms = id === 0 ? Date.now() : performance.now()
    const whole = Math.floor(ms)
    this.#data().setBigUint64(
      out,
      BigInt(whole) * 1_000_000n + BigInt(Math.floor((ms - whole) * 1e6)),
      true,
    )
    return 0
  }

  /** Few random bytes are asked for at a time, and each question to the system costs much. */
  #random(at: number, size: number): number {
    const to = new Uint8Array(this.#data().buffer, at, size)
    for (let done = 0; done < size; ) {
      if (this.#poolUsed === this.#pool.length) {
        crypto.getRandomValues(this.#pool)
        this.#poolUsed = 0
      }
      const end = Math.min(this.#pool.length, this.#poolUsed + size - done)
      to.set(this.#pool.subarray(this.#poolUsed, end), done)
      this.#pool.fill(0, this.#poolUsed, end)
      done += end - this.#poolUsed
      this.#poolUsed = end
    }
    return 0
  }

  #write(fd: number, vectors: number, count: number, written: number): number {
    const data = this.#data()
    let total = 0
    for (let i = 0; i < count; i++) {
      const at = data.getUint32(vectors + 8 * i, true)
      const size = data.getUint32(vectors + 8 * i + 4, true)
      if (fd === 2 && this.#wordsSize < lastWordsLimit) {
        this.#words.push(new Uint8Array(data.buffer, at, size).slice())
        this.#wordsSize += size
      }
      total += size
    }
    data.setUint32(written, total, true)
    return 0
  }
}
