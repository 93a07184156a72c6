// Runs the conformance driver on Node: lines of JSON on stdin and stdout (conformance/runner/program.go).
import { createInterface } from 'node:readline'
import { inspect } from 'node:util'
import * as sdk from '../dist/node.mjs'
import { createDriver } from './driver.mjs'

if (process.env.AGENT_SANDBOX_WASM) sdk.useWasm(process.env.AGENT_SANDBOX_WASM)
const receive = createDriver(sdk, (m) => process.stdout.write(`${JSON.stringify(m)}\n`), inspect)
for await (const line of createInterface({ input: process.stdin })) receive(JSON.parse(line))
process.exit(0)
