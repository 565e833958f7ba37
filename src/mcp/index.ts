/**
 * Tools from MCP servers, and an MCP server of your tools.
 *
 * @module
 */

export type { PinStore } from './listing/trust.ts'
export { McpToolset, type ToolDefinition } from './mcp-toolset.ts'
export type {
  HttpConnection,
  McpClientMetadata,
  McpProgress,
  McpToolsetOptions,
  ServerToolInfo,
  StdioConnection,
  ToolAnnotations,
} from './mcp-toolset-options.ts'
