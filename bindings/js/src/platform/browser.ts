/**
 * The engine's platform in pages, in workers, and on edge runtimes: fetch and WebSocket, no files
 * and no environment. Nothing runs at import.
 */

import { BrowserHost } from './browser/host.ts'
import { PageKey } from './browser/pagekey.ts'
import { readSettings } from './browser/settings.ts'
import { loadWasm } from './browser/wasm.ts'
import type { Platform } from './platform.ts'

export function createPlatform(): Platform {
  const pageKey = new PageKey()
  return {
    name: 'browser',
    loadWasm,
    readSettings,
    host: (options) => new BrowserHost(options),
    notice: (line) => {
      console.info(line)
    },
    prepare: () => pageKey.prepare(),
    credential: (fail) => pageKey.get(fail),
  }
}
