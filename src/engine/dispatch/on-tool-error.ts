// `onToolError` callbacks, and the refusal of calls that cannot run. A callback may replace both errors with a result.
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import { messageOf, ToolError } from '../../core/error/error.ts'
import { maskArgs } from '../policy/redact.ts'
import type { Tool } from '../tool/tool.ts'
import type { Batch } from './host.ts'
import { failure, type Prepared, type ResolvedCall } from './outcome.ts'
import type { ToolEntry } from './resolve.ts'

/** Calls the `onToolError` callbacks in turn. Returns the first result; undefined when no callback returns one. */
export async function callOnToolError(
  batch: Batch,
  { entry, context }: ResolvedCall,
  args: unknown,
  error: unknown,
): Promise<{ value: unknown } | undefined> {
  const { tool } = entry
  const shown = shownArgs(tool, args)
  try {
    for (const onToolError of batch.hooks.onToolError) {
      const value = await onToolError({ tool, args: shown, error, context })
      if (value === null)
        batch.host.services.logger.error(
          describeNullReturned('onToolError', tool.name, 'The error of the tool is used.'),
        )
      else if (value !== undefined) return { value }
    }
  } catch (failed) {
    // the error of the tool is used: an unknown outcome must not become a plain failure
    const problem = `An onToolError callback failed for tool "${tool.name}": ${messageOf(failed)}. The error of the tool is used.`
    batch.host.services.logger.warn(problem, failed)
  }
  return undefined
}

/** Refuses a call of an unknown tool or with invalid arguments. A callback may return a result, but the tool never runs. */
export function refuseCall(
  batch: Batch,
  refusable: ResolvedCall & { readonly args: unknown },
  code: 'NOT_FOUND' | 'INVALID_ARGS',
  message: string,
): Prepared | Promise<Prepared> {
  const { call, entry, context, args } = refusable
  const refused = failure(call, code, message)
  if (batch.hooks.onToolError.length === 0) return refused
  const own = toJsonValue(args).value // arguments of a callback may not be JSON
  return callOnToolError(batch, refusable, own, new ToolError(message, { code })).then((recovered) => {
    if (batch.host.stop.stopped) throw batch.host.stop.stopped.reason
    return recovered ? { type: 'answered', call, entry, context, args: own, value: recovered.value } : refused
  })
}

/** The tool that callbacks get when the model calls an unknown tool. */
export function missingTool(name: string): ToolEntry {
  const tool: Tool = {
    name,
    description: 'Tool not found',
    declaration: () => undefined,
    run: () => {
      throw new ToolError(`Unknown tool "${name}".`, { code: 'NOT_FOUND' })
    },
  }
  const nothing = {
    kind: 'body' as const,
    background: undefined,
    isPassive: true,
    isFixed: true,
    declaration: undefined,
    declared: undefined,
    gate: undefined,
    parseResult: undefined,
  }
  return { tool, ...nothing, parse: (value) => ({ value }) }
}

/** The arguments for callbacks, with secrets masked. */
export function shownArgs(tool: Tool, args: unknown): JsonObject {
  const shown = maskArgs(tool, args)
  return isRecord(shown) ? shown : { value: shown }
}

/** The log message for a callback that returned null. */
export function describeNullReturned(hook: string, tool: string, consequence: string): string {
  return `An ${hook} callback returned null for tool "${tool}". ${consequence} Return nothing (undefined) or a result.`
}
