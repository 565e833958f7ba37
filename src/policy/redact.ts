import { list, type OptionRules } from '../error/check-options.ts'
import { delegate } from '../tool/delegate.ts'
import { keepParts } from '../tool/parts.ts'
import type { Tool } from '../tool/tool.ts'
import { hide, readPath, type Step } from './redact-paths.ts'
import { addLayer, checkPolicy, invalidPolicy, requireTool } from './wrap.ts'

/** On a tool: shows its arguments without what must not be seen. */
export const REDACTED_ARGS: unique symbol = Symbol.for('toolwright.redactedArgs')

/** What to hide: in the result from everybody, in the arguments from observers (callbacks after the call, log lines). */
export interface RedactOptions {
  result?: readonly string[] | undefined
  args?: readonly string[] | undefined
}

const RULES: OptionRules<RedactOptions> = { result: list, args: list }

/**
 * Replaces parts of the result by `[redacted]` before anybody sees it, and hides parts of the arguments from whoever
 * observes the call. Paths: `customer.ssn`, `items[].token`, `*.password`. What a body reports as progress, writes to
 * state or puts into an error's message is its own affair.
 *
 * @example
 * redact(getCustomer, ['ssn', 'cards[].number'])
 * redact(login, { args: ['password'] })
 */
export function redact<T extends Tool>(tool: T, options: readonly string[] | RedactOptions): T {
  requireTool('redact', tool)
  if (!isList(options)) checkPolicy('redact', tool, options, RULES)
  const { result = [], args = [] }: RedactOptions = isList(options) ? { result: options } : (options ?? {})
  const resultPaths = readPaths(tool, result)
  const argsPaths = readPaths(tool, args)
  if (resultPaths.length + argsPaths.length === 0)
    throw invalidPolicy('redact', tool, 'name at least one path to hide.')
  let made = tool
  if (argsPaths.length > 0)
    made = delegate(made, { [REDACTED_ARGS]: (given: unknown) => hide(maskArgs(tool, given), argsPaths) })
  if (resultPaths.length > 0) {
    made = addLayer(made, async (call, next) => {
      const value = await next(call)
      return keepParts(value, hide(value, resultPaths))
    })
  }
  return made
}

/** The arguments as observers may see them. */
export function maskArgs(tool: Tool, args: unknown): unknown {
  const mask = (tool as { [REDACTED_ARGS]?: (args: unknown) => unknown })[REDACTED_ARGS]
  return mask ? mask(args) : args
}

function isList(options: readonly string[] | RedactOptions): options is readonly string[] {
  return Array.isArray(options)
}

function readPaths(tool: Tool, paths: readonly string[]): (readonly Step[])[] {
  if (!Array.isArray(paths)) throw invalidPolicy('redact', tool, 'paths are a list of strings.')
  return paths.map((path) => {
    const steps = readPath(path)
    if (!steps) throw invalidPolicy('redact', tool, `${JSON.stringify(path)} is not a path like "items[].token".`)
    return steps
  })
}
