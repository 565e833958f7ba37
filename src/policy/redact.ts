import { toPlain } from '../base/plain.ts'
import { list, type OptionRules } from '../error/check-options.ts'
import { ToolError } from '../error/error.ts'
import { compileSchema } from '../schema/compile.ts'
import { invalidResult } from '../schema/parsed.ts'
import { delegate } from '../tool/delegate.ts'
import { keepParts } from '../tool/parts.ts'
import type { Tool } from '../tool/tool.ts'
import { redactPaths, readPath, type PathStep } from './redact-paths.ts'
import { addMiddleware, checkPolicyOptions, invalidPolicy, requireTool } from './wrap.ts'

/** On a tool: shows its arguments without what must not be seen. */
export const REDACTED_ARGS: unique symbol = Symbol.for('toolwright.redactedArgs')

/** What to hide: in the result from everybody, in the arguments from observers (callbacks after the call, log lines). */
export interface RedactOptions {
  result?: readonly string[] | undefined
  args?: readonly string[] | undefined
}

const RULES: OptionRules<RedactOptions> = { result: list, args: list }

/** On a tool: its results are checked against `outputSchema` before they are redacted, not after. */
export const CHECKS_RESULT: unique symbol = Symbol.for('toolwright.checksResult')

/**
 * Replaces parts of the result by `[redacted]` before anybody sees it, and hides parts of the arguments from whoever
 * observes the call. Paths name places in the result as it would be recorded: `customer.ssn`, `items[].token`,
 * `*.password`. What a body reports as progress, writes to state, puts into an error's message or beside the result as
 * media is its own affair.
 *
 * @example
 * redact(getCustomer, ['ssn', 'cards[].number'])
 * redact(login, { args: ['password'] })
 */
export function redact<T extends Tool>(tool: T, options: readonly string[] | RedactOptions): T {
  requireTool('redact', tool)
  if (!isList(options)) checkPolicyOptions('redact', tool, options, RULES)
  const { result = [], args = [] }: RedactOptions = isList(options) ? { result: options } : (options ?? {})
  const resultPaths = readPaths(tool, result)
  const argsPaths = readPaths(tool, args)
  if (resultPaths.length + argsPaths.length === 0)
    throw invalidPolicy('redact', tool, 'name at least one path to hide.')
  let made = tool
  if (argsPaths.length > 0)
    made = delegate(made, { [REDACTED_ARGS]: (given: unknown) => redactPaths(maskArgs(tool, given), argsPaths) })
  return resultPaths.length > 0 ? redactResults(made, resultPaths) : made
}

function redactResults<T extends Tool>(tool: T, paths: readonly (readonly PathStep[])[]): T {
  const isChecked = (tool as { [CHECKS_RESULT]?: boolean })[CHECKS_RESULT] === true
  // "[redacted]" need not fit the schema of the result: what the body gave is checked, before it is hidden
  const schema =
    tool.outputSchema === undefined || isChecked
      ? undefined
      : compileSchema(tool.outputSchema, `Tool "${tool.name}", output`)
  const redacted = async (value: unknown, pending: boolean): Promise<unknown> => {
    if (typeof value === 'symbol') return value // the framework's own: the call waits
    if (!schema || pending) return keepParts(value, redactPaths(value, paths))
    const parsed = await schema.parse(toPlain(value).value)
    if (!parsed.issues) return keepParts(value, redactPaths(parsed.value, paths))
    throw new ToolError(invalidResult(tool.name, parsed.issues), { code: 'INVALID_RESULT' })
  }
  const { reconcile } = tool
  const forwarded = reconcile && {
    // what it says about an interrupted call is a result too
    reconcile: async (attempt: Parameters<typeof reconcile>[0]) => {
      const found = await reconcile.call(tool, attempt)
      return found?.status === 'done' ? { ...found, result: await redacted(found.result, false) } : found
    },
  }
  const made = delegate(tool, { ...forwarded, ...(schema && { [CHECKS_RESULT]: true }) })
  return addMiddleware(made, async (call, next) => redacted(await next(call), call.context.longRunning))
}

/** The arguments as observers may see them. */
export function maskArgs(tool: Tool, args: unknown): unknown {
  const mask = (tool as { [REDACTED_ARGS]?: (args: unknown) => unknown })[REDACTED_ARGS]
  return mask ? mask(args) : args
}

function isList(options: readonly string[] | RedactOptions): options is readonly string[] {
  return Array.isArray(options)
}

function readPaths(tool: Tool, paths: readonly string[]): (readonly PathStep[])[] {
  if (!Array.isArray(paths)) throw invalidPolicy('redact', tool, 'paths are a list of strings.')
  return paths.map((path) => {
    const steps = readPath(path)
    if (!steps) throw invalidPolicy('redact', tool, `${JSON.stringify(path)} is not a path like "items[].token".`)
    return steps
  })
}
