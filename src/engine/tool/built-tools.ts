// Tools made by `tool()`. Their members and schemas are already checked, so the dispatcher does not check them again.
import type { Tool } from './tool.ts'

const builtTools: WeakMap<() => unknown, Tool> = new WeakMap()

/** Registers a frozen tool whose members and schemas are checked. */
export function registerBuiltTool(tool: Tool): void {
  builtTools.set(tool.declaration, tool)
}

/** Finds the registered tool with the same declaration: the tool itself, or the one that a wrapper forwards to. */
export function findBuiltTool(tool: Tool): Tool | undefined {
  return builtTools.get(tool.declaration)
}
