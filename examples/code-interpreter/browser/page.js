import { Sandbox } from './agent-sandbox/browser.mjs'

const element = (id) => document.querySelector(`#${id}`)
const textOf = async (name) => (await fetch(name)).text()

try {
  // The page was opened with a one-time code, which gives it its key.
  const sandbox = await Sandbox.create('code-interpreter-v1')
  try {
    await sandbox.files.write('sales.csv', await textOf('sales.csv'))
    const { results, error } = await sandbox.runCode(await textOf('report.py'))
    if (error) throw new Error(`${error.name}: ${error.value}`)
    const [figure, table] = results
    element('picture').src = `data:image/png;base64,${figure.png}`
    drawBars(figure.chart)
    showTable(table.html)
  } finally {
    await sandbox.kill()
  }
  element('state').textContent = 'done'
} catch (error) {
  element('state').textContent = `${error}${error.suggestion ? `\n${error.suggestion}` : ''}`
}

// The data of the chart is the page's to draw, in its own style.
function drawBars(chart) {
  if (chart.type !== 'bar') throw new Error(`a chart of type ${chart.type}`)
  element('title').textContent = chart.title
  const most = Math.max(...chart.elements.map(({ value }) => value))
  for (const { label, value } of chart.elements) {
    const name = document.createElement('dt')
    name.textContent = label
    const bar = document.createElement('dd')
    bar.textContent = value
    bar.style.setProperty('--share', `${(100 * value) / most}%`)
    element('bars').append(name, bar)
  }
}

// What code gives as HTML is shown apart: nothing in it runs in this page.
function showTable(html) {
  const frame = document.createElement('iframe')
  frame.sandbox = ''
  frame.srcdoc = html
  element('table').append(frame)
}
