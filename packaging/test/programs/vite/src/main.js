import { Sandbox } from 'agent-sandbox'
import { work } from './page.js'
import { show } from './show.js'

show(work(Sandbox, new URLSearchParams(location.search)))
