// What every policy is made of.
import { ToolwrightError } from '../error/error.ts'
import { delegate } from '../tool/delegate.ts'
import { isTool, type Middleware, type Tool } from '../tool/tool.ts'

/** The tool with one more layer around its body, outside of those it has. */
export function addLayer<T extends Tool>(tool: T, layer: Middleware): T {
  return delegate(tool, { middleware: [layer, ...(tool.middleware ?? [])] })
}

/** Throws INVALID_CONFIG when it is not a tool that is to be wrapped. */
export function requireTool(policy: string, tool: unknown): void {
  if (!isTool(tool)) throw new ToolwrightError('INVALID_CONFIG', `${policy}() takes a tool as its first argument.`)
}

/** An INVALID_CONFIG error that names the policy and the tool. */
export function invalidPolicy(policy: string, tool: Tool, problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `${policy}() of tool "${tool.name}": ${problem}`)
}

/** Longer waits make a timer fire at once. */
const MAX_MS = 2_147_483_647

/** Is it a length of time a timer can wait for? */
export function isDuration(ms: unknown): ms is number {
  return typeof ms === 'number' && ms > 0 && ms <= MAX_MS
}

/** Is it a whole number of at least one? */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1
}
