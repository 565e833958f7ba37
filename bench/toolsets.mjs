// What a tool of an MCP server and of an OpenAPI document costs, beside the bare MCP client and @google/adk. See README.md.
// usage: npm run bench:toolsets -- [--reps 5]
import { spawnSync } from 'node:child_process'
import { installPacked, median, option } from './prepare.mjs'

const reps = option('reps', 5)
const packages = ['@modelcontextprotocol/client', '@modelcontextprotocol/server-everything', 'yaml']
const folder = installPacked('toolsets', ['@google/adk@2.0.0', ...packages])

const samples = {}
for (let rep = 0; rep < reps; rep++) {
  for (const part of ['bare', 'toolwright', 'toolwright-steps', 'google-adk', 'openapi']) {
    const child = spawnSync(process.execPath, ['--expose-gc', 'toolsets-worker.mjs', part], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 300_000,
      env: { ...process.env, NODE_ENV: 'production' },
    })
    const line = child.stdout.split('\n').find((text) => text.startsWith('RESULT '))
    if (!line) throw new Error(`${part} failed: ${child.stderr.slice(-500)}`)
    for (const [metric, value] of Object.entries(JSON.parse(line.slice(7)))) {
      samples[`${part} ${metric}`] ??= []
      samples[`${part} ${metric}`].push(value)
    }
  }
}

const value = (name) => median(samples[name])
const rows = [
  ['MCP call, bare client, us', value('bare us')],
  ['MCP call, Toolwright, us', value('toolwright us')],
  ['MCP call, Toolwright, with a model call, us', value('toolwright-steps us')],
  ['MCP call, @google/adk, with a model call, us', value('google-adk us')],
  ['MCP call, times the bare client', value('toolwright us') / value('bare us'), { max: 1.5 }],
  ['MCP call, @google/adk over Toolwright', value('google-adk us') / value('toolwright-steps us'), { min: 50 }],
  ['1,000 operations to tools, ms', value('openapi ms'), { max: 1_000 }],
  ['1,000 operations to tools, MB', value('openapi rssMB'), { max: 100 }],
]
let isOver = false
for (const [what, measured, { max = Infinity, min = -Infinity } = {}] of rows) {
  const isKept = measured <= max && measured >= min
  if (!isKept) isOver = true
  const limit = max < Infinity ? ` (at most ${max})` : min > -Infinity ? ` (at least ${min})` : ''
  console.log(`${isKept ? 'ok  ' : 'OVER'} ${what}: ${measured.toFixed(measured < 10 ? 2 : 0)}${limit}`)
}
process.exitCode = isOver ? 1 : 0
