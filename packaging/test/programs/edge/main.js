import { Sandbox } from 'agent-sandbox'
import { work } from './page.js'

globalThis.answer = (wasm, where) => work(Sandbox, where, { wasm })
