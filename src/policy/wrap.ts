// What every policy is made of.
import { kindOf } from '../base/kind-of.ts'
import type { Ports } from '../base/ports.ts'
import { checkOptions, type Rule } from '../error/check-options.ts'
import { ToolError, ToolwrightError } from '../error/error.ts'
import { PORT_RULES } from '../error/port-rules.ts'
import { delegate } from '../tool/delegate.ts'
import { isTool, type Middleware, type Tool } from '../tool/tool.ts'

/** The tool with one more layer around its body, outside of those it has. */
export function addMiddleware<T extends Tool>(tool: T, layer: Middleware): T {
  return delegate(tool, { middleware: [layer, ...(tool.middleware ?? [])] })
}

/** Throws INVALID_CONFIG when it is not a tool that is to be wrapped. */
export function requireTool(policy: string, tool: unknown): void {
  if (!isTool(tool)) throw new ToolwrightError('INVALID_CONFIG', `${policy}() takes a tool as its first argument.`)
}

/** Throws INVALID_CONFIG when a policy gets an unknown option, or one of the wrong type. */
export function checkPolicyOptions(
  policy: string,
  tool: Tool,
  options: unknown,
  rules: { readonly [option: string]: Rule },
  ports: Partial<Ports> = {},
): void {
  const what = `${policy}() of tool "${tool.name}"`
  checkOptions(what, options ?? {}, rules)
  checkOptions(`${what}, ports`, ports, PORT_RULES)
}

/** An INVALID_CONFIG error that names the policy and the tool. */
export function invalidPolicy(policy: string, tool: Tool, problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `${policy}() of tool "${tool.name}": ${problem}`)
}

/** What a `key` function gave. A promise or an object would put every call under one key. */
export function checkKey(policy: string, tool: Tool, key: unknown): string {
  if (typeof key === 'string' || typeof key === 'number') return String(key)
  throw new ToolError(`${policy}() of tool "${tool.name}": key must return a string, got ${kindOf(key)}.`)
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
