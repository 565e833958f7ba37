// Checks the arguments of policies when they wrap a tool.
import { kindOf } from '../../core/base/kind-of.ts'
import type { Ports } from '../../core/base/ports.ts'
import { checkOptions, type Rule } from '../../core/error/check-options.ts'
import { ToolError, ToolwrightError } from '../../core/error/error.ts'
import { PORT_RULES } from '../../core/error/port-rules.ts'
import { isTool, type Tool } from '../tool/tool.ts'

/** Throws INVALID_CONFIG unless the first argument of a policy is a tool. */
export function requireTool(policy: string, tool: unknown): void {
  if (!isTool(tool)) {
    const message = `${policy}() takes a tool as its first argument, got ${kindOf(tool)}. Create one with tool().`
    throw new ToolwrightError('INVALID_CONFIG', message)
  }
}

/** Throws INVALID_CONFIG when an option is unknown or has a wrong value. */
export function checkPolicyOptions(
  policy: string,
  tool: Tool,
  options: unknown,
  rules: { readonly [option: string]: Rule },
): void {
  checkOptions(`${policy}() of tool "${tool.name}"`, options ?? {}, rules)
}

/** Throws INVALID_CONFIG when an option is missing. */
export function requireOption(policy: string, tool: Tool, option: string, value: unknown): void {
  if (value === undefined) throw invalidPolicy(policy, tool, `${option} is required.`)
}

/** Throws INVALID_CONFIG when a port is unknown or not a function. */
export function checkPorts(policy: string, tool: Tool, ports: Partial<Ports>): void {
  checkOptions(`${policy}() of tool "${tool.name}", ports`, ports, PORT_RULES)
}

/** An INVALID_CONFIG error that names the policy and the tool. */
export function invalidPolicy(policy: string, tool: Tool, problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `${policy}() of tool "${tool.name}": ${problem}`)
}

/** Checks the result of a `key` function. All promises and objects would have the same key. */
export function checkKey(policy: string, tool: Tool, key: unknown): string {
  if (typeof key === 'string' || typeof key === 'number') return String(key)
  throw new ToolError(`${policy}() of tool "${tool.name}": key must return a string, got ${kindOf(key)}.`)
}

/** The longest delay of a timer in milliseconds. A timer with a longer delay fires immediately. */
const MAX_TIMER_MS = 2_147_483_647

/** Whether a value is a delay that a timer supports, in milliseconds. */
function isDuration(ms: unknown): ms is number {
  return typeof ms === 'number' && ms > 0 && ms <= MAX_TIMER_MS
}

/** The rule of options in milliseconds. */
export const DURATION: Rule = {
  expects: `a positive number of milliseconds, at most ${MAX_TIMER_MS}`,
  accepts: isDuration,
}

/** The rule of options in milliseconds that can be 0. */
export const DURATION_OR_ZERO: Rule = {
  expects: `a number of milliseconds from 0 to ${MAX_TIMER_MS}`,
  accepts: (value) => value === 0 || isDuration(value),
}

/** The rule of options that count something. */
export const COUNT: Rule = {
  expects: 'a whole number >= 1',
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
}
