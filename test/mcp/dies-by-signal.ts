// A host with a local server that ignores the end of its input and SIGTERM. It prints the id of the server, and runs on.
import { LlmAgent, Runner } from 'toolwright'
import { McpToolset } from 'toolwright/mcp'
import { scriptedModel } from 'toolwright/testing'

const PROGRAM = `
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
  setInterval(() => {}, 1_000)
  const results = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
    'tools/list': { tools: [{ name: 'pid', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: String(process.pid) }] },
  }
  process.stdout.on('error', () => {})
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (id === undefined) return
    const body = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } }
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n')
  })`

const connection = { type: 'stdio', command: process.execPath, args: ['-e', PROGRAM] } as const
const model = scriptedModel([{ calls: [{ name: 'pid' }] }, 'done'])
const agent = new LlmAgent({ name: 'a', model, tools: [new McpToolset({ connection })] })
const runner = new Runner({ appName: 'app', agent })
const { events } = await runner.complete({ userId: 'ada', message: 'go' })
const parts = events.flatMap(({ content }) => content?.parts ?? [])
const response = parts.find(({ functionResponse }) => functionResponse)?.functionResponse?.response
console.log(response?.text)
if (process.argv[2] === 'close') await runner.close()
else setInterval(() => {}, 1_000)
