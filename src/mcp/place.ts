import type { JsonObject } from '../base/json.ts'
import type { McpToolsetOptions } from './mcp-toolset-options.ts'

/**
 * Where a server is, for approvals. Headers and variables of the environment are left out: they hold credentials, which
 * change while the server stays the same.
 */
export function placeOf(connection: McpToolsetOptions['connection']): JsonObject {
  const { type } = connection
  if (connection.type === 'stdio') return { type, command: connection.command, args: [...(connection.args ?? [])] }
  return { type, url: String(connection.url) }
}
