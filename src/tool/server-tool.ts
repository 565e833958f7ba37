// Tools the model's own servers run: a request names them, nobody here calls them.
import { canonicalJson } from '../base/json.ts'
import type { WireTool } from './llm-request-config.ts'
import type { Tool } from './tool.ts'

const SERVER_TOOL: unique symbol = Symbol.for('toolwright.serverTool')

export interface ServerTool {
  /** As a model's `capabilities.serverTools` name it. */
  readonly capability: string
  /** What goes into a request. */
  readonly entry: WireTool
  /** A tool of ours that does the same, for where this one cannot stand beside others. Default: an agent of its own. */
  readonly substitute?: (() => Tool) | undefined
}

/** Marks a passive tool. */
export function markServerTool(tool: Tool, mark: ServerTool): Tool {
  const marked: Tool & { [SERVER_TOOL]: ServerTool } = { ...tool, [SERVER_TOOL]: mark }
  return marked
}

/** What a server-side tool stands for, also through policies, which carry symbol properties along. */
export function serverToolOf(tool: Tool): ServerTool | undefined {
  return (tool as { [SERVER_TOOL]?: ServerTool })[SERVER_TOOL]
}

/** Do both ask for the same thing? Then one of them is enough. */
export function isSameServerTool(one: Tool, other: Tool): boolean {
  const [a, b] = [serverToolOf(one), serverToolOf(other)]
  return a !== undefined && b !== undefined && canonicalJson(a.entry) === canonicalJson(b.entry)
}
