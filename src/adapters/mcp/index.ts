/**
 * Tools from MCP servers, and an MCP server of your tools.
 *
 * @module
 */

export type { PinStore } from './listing/quarantine.ts'
export type { ToolDefinition } from './listing/toolset-pins.ts'
export { McpToolset } from './mcp-toolset.ts'
export type {
  HttpConnection,
  McpClientMetadata,
  McpProgress,
  McpToolsetOptions,
  ServerToolInfo,
  StdioConnection,
  ToolAnnotations,
} from './mcp-toolset-options.ts'
export type { Listening } from './serve/listen.ts'
export { type McpService, serveMcp } from './serve/serve-mcp.ts'
export type { McpIdentity, ServeMcpOptions } from './serve/serve-options.ts'
export type { StdioStreams } from './serve/stdio.ts'
