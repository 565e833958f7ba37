import { overrideTool } from '../tool/override-tool.ts'
import type { Middleware, Tool } from '../tool/tool.ts'

/** A tool with one more middleware around its body, outside of those it has. */
export function addMiddleware<T extends Tool>(tool: T, middleware: Middleware): T {
  return overrideTool(tool, { middleware: [middleware, ...(tool.middleware ?? [])] })
}
