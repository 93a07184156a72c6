import { Sandbox } from './node_modules/agent-sandbox/dist/browser.mjs'
import { work } from './page.js'

self.onmessage = ({ data }) =>
  work(Sandbox, new URLSearchParams(data)).then(
    (text) => self.postMessage({ text }),
    (error) => self.postMessage({ error: String(error.stack ?? error) }),
  )
