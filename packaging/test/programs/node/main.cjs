const { Sandbox } = require('agent-sandbox')
const { work } = require('./work.cjs')

work(Sandbox)
