// An agent with the tools of an MCP server. The server starts when the agent needs it and ends with the runner.
//   npx toolwright run examples/mcp/desk.ts "Add the note: buy milk"
import { fileURLToPath } from 'node:url'
import { LlmAgent } from 'toolwright'
import { McpToolset } from 'toolwright/mcp'
import { model } from '../model.ts'

const server = fileURLToPath(new URL('server.ts', import.meta.url))
const notes = new McpToolset({
  name: 'notes',
  connection: { type: 'stdio', command: process.execPath, args: [...process.execArgv, server] },
  connectTimeoutMs: 20_000,
})

const agent: LlmAgent = new LlmAgent({ name: 'desk', model, instruction: 'Help with the notes.', tools: [notes] })
export default agent
