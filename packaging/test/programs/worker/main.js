import { show } from './show.js'

const worker = new Worker('worker.js', { type: 'module' })
show(
  new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) =>
      data.text ? resolve(data.text) : reject(new Error(data.error))
    worker.onerror = (event) => reject(new Error(event.message))
    worker.postMessage(location.search)
  }),
)
