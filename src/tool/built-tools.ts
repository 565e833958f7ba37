// Declarations of tools whose schemas were checked when the tool was built: the first use writes them, so that a program
// with a thousand tools does not write a thousand declarations before it can start.
import type { FunctionDeclaration } from '../content/content.ts'
import type { Tool } from './tool.ts'

const tools: WeakMap<() => unknown, Tool> = new WeakMap()

/** A declaration that `make` writes once, when it is first asked for. */
export function lazyDeclaration(make: () => FunctionDeclaration): () => FunctionDeclaration {
  let made: FunctionDeclaration | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Notes a frozen tool whose members and schemas were checked while it was built. */
export function registerBuiltTool(tool: Tool): void {
  tools.set(tool.declaration, tool)
}

/**
 * The built tool whose declaration this is: the tool itself, as it was checked, or the one that something was put around.
 */
export function findBuiltTool(tool: Tool): Tool | undefined {
  return tools.get(tool.declaration)
}
