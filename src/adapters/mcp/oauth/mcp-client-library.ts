import { loadPeer } from '../../../core/error/load-peer.ts'

/** The functions of the MCP client package. */
export type McpClientLibrary = typeof import('@modelcontextprotocol/client')

/** Loads the MCP client package. Throws MISSING_PEER if it is not installed. */
export function loadMcpClient(): Promise<McpClientLibrary> {
  return loadPeer('@modelcontextprotocol/client', () => import('@modelcontextprotocol/client'))
}
