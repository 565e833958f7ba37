/**
 * Tools from MCP servers, and an MCP server of your tools.
 *
 * @module
 */

export type { Tool } from '../tool/tool.ts'
