// Tools that run on the servers of the model provider. A request lists them in `config.tools`, and the dispatcher never
// runs them.
import { canonicalJson } from '../../core/base/json.ts'
import type { ConfigTool } from '../model/llm-request-config.ts'
import type { Tool } from './tool.ts'

const SERVER_TOOL: unique symbol = Symbol.for('toolwright.serverTool')

/** A tool that runs on the servers of the model provider. */
export interface ServerTool {
  /** Its name in the model's `capabilities.serverTools`. */
  readonly capability: string
  /** The entry of `config.tools` in a request. */
  readonly entry: ConfigTool
  /**
   * Creates the function tool that replaces the server tool on models that cannot combine server tools with functions.
   * Default: an agent tool whose agent has only this server tool.
   */
  readonly substitute?: (() => Tool) | undefined
}

/** Marks a passive tool as a server tool. */
export function markServerTool(tool: Tool, serverTool: ServerTool): Tool {
  const marked: Tool & { [SERVER_TOOL]: ServerTool } = { ...tool, [SERVER_TOOL]: serverTool }
  return marked
}

/** Returns the server tool that a tool is marked as. Policies keep the mark. Undefined for other tools. */
export function serverToolOf(tool: Tool): ServerTool | undefined {
  return (tool as { [SERVER_TOOL]?: ServerTool })[SERVER_TOOL]
}

/** Do both tools add the same entry to a request? */
export function isSameServerTool(one: Tool, other: Tool): boolean {
  const [a, b] = [serverToolOf(one), serverToolOf(other)]
  return a !== undefined && b !== undefined && canonicalJson(a.entry) === canonicalJson(b.entry)
}
