// Tools that the servers of the model provider run. A request names them; the dispatcher never calls them.
import { canonicalJson } from '../base/json.ts'
import type { WireTool } from './llm-request-config.ts'
import type { Tool } from './tool.ts'

const SERVER_TOOL: unique symbol = Symbol.for('toolwright.serverTool')

/** A tool that the servers of the model provider run. */
export interface ServerTool {
  /** Its name in the model's `capabilities.serverTools`. */
  readonly capability: string
  /** The entry of `config.tools` in a request. */
  readonly entry: WireTool
  /** Creates a replacement for models that cannot combine server tools with functions. Default: an agent of its own. */
  readonly substitute?: (() => Tool) | undefined
}

/** Marks a passive tool as a server tool. */
export function markServerTool(tool: Tool, serverTool: ServerTool): Tool {
  const marked: Tool & { [SERVER_TOOL]: ServerTool } = { ...tool, [SERVER_TOOL]: serverTool }
  return marked
}

/** The server tool that a tool stands for, also through policies. Undefined for other tools. */
export function serverToolOf(tool: Tool): ServerTool | undefined {
  return (tool as { [SERVER_TOOL]?: ServerTool })[SERVER_TOOL]
}

/** Do both tools add the same entry to a request? */
export function isSameServerTool(one: Tool, other: Tool): boolean {
  const [a, b] = [serverToolOf(one), serverToolOf(other)]
  return a !== undefined && b !== undefined && canonicalJson(a.entry) === canonicalJson(b.entry)
}
