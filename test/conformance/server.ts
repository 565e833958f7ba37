import { type McpService, serveMcp } from 'toolwright/mcp'
import { tools } from './tools.ts'

const logger = { warn: () => {}, error: () => {} }

/** The MCP server that the conformance scenarios test. */
export function conformanceServer(): McpService {
  return serveMcp({ name: 'conformance', tools, logger, httpSessions: true })
}
