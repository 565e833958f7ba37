import { kindOf } from '../../core/base/kind-of.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import { list, type OptionRules } from '../../core/error/check-options.ts'
import { ToolError } from '../../core/error/error.ts'
import { compileSchema } from '../../core/schema/compile.ts'
import { describeInvalidResult } from '../../core/schema/issues.ts'
import { keepParts } from '../context/result-parts.ts'
import { overrideTool } from '../tool/override-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { addMiddleware } from './add-middleware.ts'
import { checkPolicyOptions, invalidPolicy, requireTool } from './check-policy.ts'
import { type PathStep, readPath, redactPaths } from './redact-paths.ts'

/** Property of a tool: a function that redacts its arguments. */
const REDACTED_ARGS: unique symbol = Symbol.for('toolwright.redactedArgs')

/** Options of `redact()`: paths such as `customer.ssn`, `items[].token` or `*.password`. */
export interface RedactOptions {
  /** Paths in the result. They are redacted for everyone: the model, the event log, callbacks and clients. Default: none. */
  result?: readonly string[] | undefined
  /** Paths in the arguments. They are redacted for callbacks after the call and log lines, not for the body. Default: none. */
  args?: readonly string[] | undefined
}

const RULES: OptionRules<RedactOptions> = { result: list, args: list }

/** Property of a tool: its results are validated before they are redacted, so dispatch must not validate them again. */
export const CHECKS_RESULT: unique symbol = Symbol.for('toolwright.checksResult')

/**
 * Replaces parts of a result by `[redacted]` before the model, the event log or a callback gets it. Also redacts arguments
 * for callbacks and log lines. Not redacted: progress, state, error messages and media parts. A list as the second argument
 * is `result`.
 *
 * @example
 * const customer = redact(getCustomer, ['ssn', 'cards[].number'])
 * const signIn = redact(login, { args: ['password'] })
 */
export function redact<T extends Tool>(tool: T, options: readonly string[] | RedactOptions): T {
  requireTool('redact', tool)
  if (!isList(options)) checkPolicyOptions('redact', tool, options, RULES)
  const { result = [], args = [] }: RedactOptions = isList(options) ? { result: options } : (options ?? {})
  const resultPaths = readPaths(tool, 'result', result)
  const argsPaths = readPaths(tool, 'args', args)
  if (resultPaths.length + argsPaths.length === 0)
    throw invalidPolicy('redact', tool, 'pass at least one path to redact, for example ["ssn"].')
  let redacting = tool
  if (argsPaths.length > 0)
    redacting = overrideTool(redacting, {
      [REDACTED_ARGS]: (given: unknown) => redactPaths(maskArgs(tool, given), argsPaths),
    })
  return resultPaths.length > 0 ? redactResults(redacting, resultPaths) : redacting
}

function redactResults<T extends Tool>(tool: T, paths: readonly (readonly PathStep[])[]): T {
  const isChecked = (tool as { [CHECKS_RESULT]?: boolean })[CHECKS_RESULT] === true
  // validate before redacting: "[redacted]" may not match the output schema
  const schema =
    tool.outputSchema === undefined || isChecked
      ? undefined
      : compileSchema(tool.outputSchema, `Tool "${tool.name}", output`)
  const redacted = async (value: unknown, pending: boolean): Promise<unknown> => {
    if (typeof value === 'symbol') return value // a marker of the framework: the call is pending
    if (!schema || pending) return keepParts(value, redactPaths(value, paths))
    const parsed = await schema.parse(toJsonValue(value).value)
    if (!parsed.issues) return keepParts(value, redactPaths(parsed.value, paths))
    throw new ToolError(describeInvalidResult(tool.name, parsed.issues), { code: 'INVALID_RESULT' })
  }
  const { reconcile } = tool
  const forwarded = reconcile && {
    // the result of an interrupted call is redacted too
    reconcile: async (attempt: Parameters<typeof reconcile>[0]) => {
      const found = await reconcile.call(tool, attempt)
      return found?.status === 'done' ? { ...found, result: await redacted(found.result, false) } : found
    },
  }
  const redacting = overrideTool(tool, { ...forwarded, ...(schema && { [CHECKS_RESULT]: true }) })
  return addMiddleware(redacting, async (call, next) => redacted(await next(call), call.context.longRunning))
}

/** The arguments for callbacks and log lines. */
export function maskArgs(tool: Tool, args: unknown): unknown {
  const mask = (tool as { [REDACTED_ARGS]?: (args: unknown) => unknown })[REDACTED_ARGS]
  return mask ? mask(args) : args
}

function isList(options: readonly string[] | RedactOptions): options is readonly string[] {
  return Array.isArray(options)
}

function readPaths(tool: Tool, option: 'result' | 'args', paths: readonly string[]): (readonly PathStep[])[] {
  if (!Array.isArray(paths)) {
    const problem = `${option} must be a list of paths, got ${kindOf(paths)}`
    throw invalidPolicy('redact', tool, `${problem}. Pass for example ["items[].token"].`)
  }
  return paths.map((path) => {
    const steps = readPath(path)
    if (!steps)
      throw invalidPolicy('redact', tool, `${JSON.stringify(path)} is not a valid path. Write it like "items[].token".`)
    return steps
  })
}
