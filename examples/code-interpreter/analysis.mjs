// A table goes in; a picture, its data and a table come back.
import { readFile, writeFile } from 'node:fs/promises'
import { Sandbox } from 'agent-sandbox'

const read = (name) => readFile(new URL(name, import.meta.url), 'utf8')
const sandbox = await Sandbox.create('code-interpreter-v1')
try {
  await sandbox.files.write('sales.csv', await read('sales.csv'))
  const [figure, table] = (await sandbox.runCode(await read('report.py'))).results
  await writeFile('sales.png', figure.bytes('png'))
  const { chart } = figure
  console.log(chart.title)
  if (chart.type === 'bar') for (const bar of chart.elements) console.log(bar.label, bar.value)
  console.log(table.text)
} finally {
  await sandbox.kill()
}
