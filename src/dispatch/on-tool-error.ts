// `onToolError`: a callback answers a call in place of its failure.
import { isRecord, type JsonObject } from '../base/json.ts'
import { toJsonValue } from '../base/to-json-value.ts'
import { messageOf, ToolError } from '../error/error.ts'
import { maskArgs } from '../policy/redact.ts'
import type { Tool } from '../tool/tool.ts'
import type { Batch } from './host.ts'
import { failure, type Prepared, type ResolvedCall } from './outcome.ts'
import type { ToolEntry } from './resolve.ts'

/** Asks the callbacks in turn; undefined when none of them answers. */
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
        batch.host.services.logger.error(describeNullReturned('onToolError', tool.name, 'The error stays.'))
      else if (value !== undefined) return { value }
    }
  } catch (failed) {
    // what the tool did still counts: an unknown outcome must not become a plain failure
    batch.host.services.logger.warn(`onToolError of ${tool.name} failed: ${messageOf(failed)}`, failed)
  }
  return undefined
}

/** A call that cannot run: its tool is unknown, or its arguments do not fit. A callback may answer it, never run it. */
export function refuseCall(
  batch: Batch,
  begun: ResolvedCall,
  args: unknown,
  code: 'NOT_FOUND' | 'INVALID_ARGS',
  message: string,
): Prepared | Promise<Prepared> {
  const { call, entry, context } = begun
  const refused = failure(call, code, message)
  if (batch.hooks.onToolError.length === 0) return refused
  const own = toJsonValue(args).value // what a callback gave may be no JSON
  return callOnToolError(batch, begun, own, new ToolError(message, { code })).then((recovered) => {
    if (batch.host.stop.stopped) throw batch.host.stop.stopped.reason
    return recovered ? { type: 'answered', call, entry, context, args: own, value: recovered.value } : refused
  })
}

/** What callbacks get for a name that no tool has. */
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
    isPassive: true,
    isFixed: true,
    declaration: undefined,
    declared: undefined,
    gate: undefined,
    parseResult: undefined,
  }
  return { tool, ...nothing, parse: (value) => ({ value }) }
}

/** The arguments as callbacks may see them. */
export function shownArgs(tool: Tool, args: unknown): JsonObject {
  const shown = maskArgs(tool, args)
  return isRecord(shown) ? shown : { value: shown }
}

export function describeNullReturned(hook: string, tool: string, consequence: string): string {
  return `An ${hook} callback returned null for tool "${tool}". ${consequence} Return nothing (undefined) or a result.`
}
