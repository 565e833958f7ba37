// The end of an invocation before its end: every open call gets a final response, then the reason is recorded.
import type { JsonObject } from '../base/json.ts'
import { clip } from '../base/limits.ts'
import type { Content, Part } from '../content/content.ts'
import type { Draft, Unrecorded } from '../dispatch/host.ts'
import { answerPart } from '../event/code-call.ts'
import type { EventActions, NewEntry } from '../event/event.ts'
import type { CallState, Fold } from '../event/fold.ts'
import type { Scope } from '../event/scope.ts'

interface Closing {
  readonly fold: Fold
  draft(author: string, scope: Scope, content: Content | undefined, actions: EventActions): Draft
}

export function closingEntries(
  run: Closing,
  rootName: string,
  reason: string,
  unrecorded: readonly (Unrecorded | undefined)[] = [],
  errorCode: 'CANCELLED' | 'AGENT_ERROR' = 'CANCELLED',
): NewEntry[] {
  const entries: NewEntry[] = []
  const results = new Map(unrecorded.flatMap((one) => (one && !one.pending ? [[one.call.id, one]] : [])))
  for (const [path, calls] of byScope(run.fold.openCalls())) {
    const actions: EventActions = {}
    const parts: Part[] = calls.map((call) => {
      const result = results.get(call.id)
      if (result?.actions?.stateDelta) actions.stateDelta = { ...actions.stateDelta, ...result.actions.stateDelta }
      if (result?.actions?.artifactDelta) {
        actions.artifactDelta = { ...actions.artifactDelta, ...result.actions.artifactDelta }
      }
      return answerPart(call, result?.response ?? responseTo(call, reason, errorCode))
    })
    const { branch, isolation } = run.fold.scopes.get(path) ?? {}
    const author = calls[0]?.agent ?? rootName
    entries.push({ event: run.draft(author, { path, branch, isolation }, { role: 'tool', parts }, actions) })
  }
  const last = run.draft(rootName, { path: rootName }, undefined, {})
  last.errorCode = errorCode
  last.errorMessage = clip(reason)
  return [...entries, { event: last }]
}

function byScope(calls: readonly CallState[]): Map<string, CallState[]> {
  const scopes = new Map<string, CallState[]>()
  for (const call of calls) {
    const beside = scopes.get(call.path)
    if (beside) beside.push(call)
    else scopes.set(call.path, [call])
  }
  return scopes
}

function responseTo(call: CallState, reason: string, errorCode: 'CANCELLED' | 'AGENT_ERROR'): JsonObject {
  if (errorCode === 'AGENT_ERROR' && !call.intent) return { error: reason, errorCode: 'NOT_FOUND' }
  if (!call.intent) return { error: 'The run was cancelled before this call was finished.', errorCode: 'CANCELLED' }
  const error = 'The run was cancelled while this call was running; it may have taken effect.'
  return { status: 'unknown_outcome', error, errorCode: 'UNKNOWN_OUTCOME' }
}
