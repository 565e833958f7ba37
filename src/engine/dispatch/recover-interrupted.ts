// How a call is recovered whose attempt was interrupted.
import { kindOf } from '../../core/base/kind-of.ts'
import { messageOf } from '../../core/error/error.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import { readReconciled } from '../tool/read-reconciled.ts'
import { bodyArgs } from './body-args.ts'
import type { Batch } from './host.ts'
import { type CallResult, type Prepared, type ResolvedCall, unknownOutcome } from './outcome.ts'
import { reportThrown } from './report-thrown.ts'
import { waitFor } from './wait-with-deadline.ts'

const RECONCILED =
  'The outcome is recorded as unknown. Return { status: "done", result }, { status: "not-done" } or { status: "unknown" }.'

/** Recovers a call whose log holds an intent and no response. The tool's `effect` decides how. */
export async function recoverInterrupted(
  { host }: Batch,
  resolved: ResolvedCall,
  again: (args: unknown, rewritten: boolean) => Prepared | Promise<Prepared>,
): Promise<Prepared> {
  const { call, entry, context } = resolved
  const { tool } = entry
  const args = call.intentArgs ?? call.args
  const runAgain = (): Prepared | Promise<Prepared> => again(args, call.intentArgs !== undefined)
  switch (tool.effect ?? 'atMostOnce') {
    case 'none':
    case 'idempotent':
      return runAgain()
    case 'reconcilable': {
      try {
        const { idempotencyKey } = context
        const reconciling = bodyArgs(tool, args).then(async (given) => ({
          given,
          found: await tool.reconcile?.({ idempotencyKey, args: given, context }),
        }))
        const timeoutMs = tool.timeoutMs ?? host.services.toolTimeoutMs
        const { given, found } = await waitFor(reconciling, {
          host,
          name: tool.name,
          step: 'reconcile',
          context,
          timeoutMs,
        })
        const known = readReconciled(found)
        if (known?.status === 'done')
          return { type: 'answered', call, entry, args: given, context, value: known.result }
        if (known?.status === 'not-done') return runAgain()
        if (!known)
          host.services.logger.error(`reconcile of tool "${tool.name}" returned ${kindOf(found)}. ${RECONCILED}`)
      } catch (error) {
        if (host.stop.stopped) throw host.stop.stopped.reason
        reportThrown(host, error, { call, step: 'reconcile' })
        return interrupted(call, ` reconcile failed: ${messageOf(error)}`)
      }
      return interrupted(call)
    }
    default:
      return interrupted(call)
  }
}

function interrupted(call: CallState, detail = ''): CallResult {
  const error = `Tool "${call.name}" was interrupted and may have taken effect. Check the outcome before you call it again.${detail}`
  return unknownOutcome(call, 'UNKNOWN_OUTCOME', error)
}
