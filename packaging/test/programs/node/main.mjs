import { Sandbox } from 'agent-sandbox'
import { work } from './work.cjs'

await work(Sandbox)
