// The beforeTool callbacks of a call. Each may change the arguments, answer the call, or deny it.
import { canonicalJson, copyJson, isRecord, type JsonObject } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { messageOf } from '../../core/error/error.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import type { Batch } from './host.ts'
import { failure, type Prepared, type ReadyCall } from './outcome.ts'
import { reportThrown } from './report-thrown.ts'
import { requestsFromBody } from './request-records.ts'

/**
 * Calls the callbacks with the arguments as they were sent. Returns the outcome when a callback ended the call, else the
 * arguments if a callback changed them. Those are in the form they were sent, so they must be validated again.
 */
export async function callBeforeTool(
  batch: Batch,
  ready: ReadyCall,
): Promise<Prepared | { readonly changed: unknown }> {
  const { call, entry, context } = ready
  let args: unknown = ready.rewritten ?? call.args
  let rewritten = false
  for (const beforeTool of batch.hooks.beforeTool) {
    const offered: JsonObject = isRecord(args) ? copyJson(args) : { value: args }
    const outcome = await catchError(() => beforeTool({ tool: entry.tool, args: offered, context }))
    if (context.requested.length) return await requestsFromBody(batch, ready) // a callback may make requests like a body
    if ('error' in outcome) {
      reportThrown(batch.host, outcome.error, { call, step: 'beforeTool' })
      return failure(call, 'EXECUTION_FAILED', messageOf(outcome.error))
    }
    const returned: unknown = outcome.value
    if (returned !== undefined) {
      if (!isBeforeToolResult(returned)) return deniedByBadReturn(batch, call, returned)
      if (returned.args === undefined)
        return { type: 'answered', call, entry, args: ready.args, context, value: returned.result }
      args = returned.args
    }
    // arguments changed in place count like returned arguments
    else if (canonicalJson(offered) !== canonicalJson(args)) args = offered
    else continue
    rewritten = true
  }
  return rewritten ? { changed: args } : ready
}

/** Is it `{ args }` with an object, or `{ result }`, without other keys? */
function isBeforeToolResult(returned: unknown): returned is { args?: JsonObject; result?: unknown } {
  if (!isRecord(returned) || !Object.keys(returned).every((key) => key === 'args' || key === 'result')) return false
  return returned.args === undefined
    ? Object.hasOwn(returned, 'result')
    : isRecord(returned.args) && returned.result === undefined
}

/** Denies the call when a callback returns an unexpected value: the callback may mean to deny it. */
function deniedByBadReturn({ host, agentName }: Batch, call: CallState, returned: unknown): Prepared {
  host.services.logger.error(
    `A beforeTool callback returned ${kindOf(returned)} for tool "${call.name}" of agent "${agentName}", so the call was denied. Return nothing (undefined), { args } or { result }.`,
  )
  return failure(
    call,
    'CANCELLED',
    `Tool "${call.name}" was not run: a beforeTool callback returned an unexpected value.`,
  )
}

async function catchError<T>(work: () => T | Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await work() }
  } catch (error) {
    return { error }
  }
}
