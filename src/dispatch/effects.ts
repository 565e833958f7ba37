// Intents: the last commit before bodies run, and what an interrupted attempt means afterwards.
import type { JsonObject } from '../base/json.ts'
import { messageOf } from '../error/error.ts'
import type { NewEntry } from '../event/event.ts'
import type { Batch } from './host.ts'
import { type Prepared, type Ready, type Result, unknownOutcome } from './outcome.ts'

/** The record that these calls may take effect from now on; undefined when none of them can. */
export function intentOf(batch: Batch, prepared: readonly Prepared[]): NewEntry | undefined {
  const calls: { id: string; args?: JsonObject }[] = []
  for (const one of prepared) {
    if (one.type !== 'ready' || !hasEffect(batch, one)) continue
    calls.push(one.rewritten ? { id: one.call.id, args: one.args as JsonObject } : { id: one.call.id })
  }
  if (calls.length === 0) return undefined
  return { record: { type: 'intent', invocationId: batch.host.invocationId, path: batch.scope.path, calls } }
}

/** Agent tools have none of their own: what runs inside them has. */
function hasEffect(batch: Batch, { entry: { tool } }: Ready): boolean {
  return tool.effect !== 'none' && !batch.agentBody(tool)
}

/** The log says an attempt began and does not say how it ended. */
export async function recoverAttempt(
  ready: Ready,
  again: (ready: Ready) => Prepared | Promise<Prepared>,
): Promise<Prepared> {
  const { call, entry, context } = ready
  const attempt: Ready = { ...ready, args: call.intentArgs ?? call.args, rewritten: call.intentArgs !== undefined }
  switch (entry.tool.effect ?? 'atMostOnce') {
    case 'none':
    case 'idempotent':
      return again(attempt)
    case 'reconcilable': {
      const { idempotencyKey } = context
      try {
        const found = await entry.tool.reconcile?.({ idempotencyKey, args: attempt.args, context })
        if (found?.status === 'done') {
          return { type: 'answered', call, entry, args: attempt.args, context, value: found.result }
        }
        if (found?.status === 'not-done') return again(attempt)
      } catch (error) {
        return interrupted(ready, ` Asking what became of it failed: ${messageOf(error)}`)
      }
      return interrupted(ready)
    }
    default:
      return interrupted(ready)
  }
}

function interrupted({ call }: Ready, detail = ''): Result {
  const error = `${call.name} was interrupted and may have taken effect. Find out before calling it again.${detail}`
  return unknownOutcome(call, 'UNKNOWN_OUTCOME', error)
}
