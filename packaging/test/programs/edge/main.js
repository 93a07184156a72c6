import { Sandbox } from 'agent-sandbox'
import { work } from './page.js'

// No browser resolves names of localhost here: one address serves all sandboxes.
globalThis.answer = (wasm, where) => work(Sandbox, where, { wasm, sandboxUrl: where.get('api') })
