// A host with a local server that ignores the end of its input and SIGTERM. It prints the id of the server, and runs on.
import { LlmAgent, Runner } from 'toolwright'
import { McpToolset } from 'toolwright/mcp'
import { scriptedModel } from 'toolwright/testing'
import { inlineServer, listedTool } from './inline-server.ts'

const connection = inlineServer(
  {
    'tools/list': { tools: [listedTool('pid')] },
    'tools/call': { content: [{ type: 'text', text: '$PID' }] },
  },
  {
    setup: `for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
      process.stdout.on('error', () => {})
      setInterval(() => {}, 1_000)`,
  },
)
const model = scriptedModel([{ calls: [{ name: 'pid' }] }, 'done'])
const agent = new LlmAgent({ name: 'a', model, tools: [new McpToolset({ connection })] })
const runner = new Runner({ appName: 'app', agent })
const { events } = await runner.complete({ userId: 'ada', message: 'go' })
const parts = events.flatMap(({ content }) => content?.parts ?? [])
const response = parts.find(({ functionResponse }) => functionResponse)?.functionResponse?.response
console.log(response?.text)
if (process.argv[2] === 'close') await runner.close()
else setInterval(() => {}, 1_000)
