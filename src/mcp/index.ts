/**
 * Tools from MCP servers, and an MCP server of your tools.
 *
 * @module
 */

export type { ToolDefinition } from './listing/toolset-pins.ts'
export type { PinStore } from './listing/trust.ts'
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
