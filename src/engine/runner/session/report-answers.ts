// Shows requests that were answered, or have expired, to observers.

import { decisionOf } from '../../../core/event/decision.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import type { RequestState } from '../../../core/event/invocation-state.ts'
import type { ReadonlyView } from '../../agent/loop/session-view.ts'
import type { Observation } from '../../observe/observation.ts'
import type { ObservedRun, OperationEnd } from '../../observe/operation.ts'
import type { RecordedRun } from '../run/recorded-run.ts'

/** The run that stores the answers. */
type AnsweredRun = ObservedRun & Pick<RecordedRun, 'fold' | 'operation'>

/** Reports the requests that these stored entries close. */
export function reportAnswers(
  observation: Observation,
  run: AnsweredRun,
  view: ReadonlyView,
  entries: readonly NewEntry[],
): void {
  for (const { event, record } of entries) {
    if (record?.type === 'denial') report(observation, run, view.foldOf(record.invocationId).request(record.requestId))
    if (event?.author !== 'user') continue
    for (const { functionResponse } of event.content?.parts ?? [])
      if (functionResponse?.id !== undefined)
        report(observation, run, view.foldOf(event.invocationId).request(functionResponse.id))
  }
}

function report(observation: Observation, run: AnsweredRun, state: RequestState | undefined): void {
  if (!state) return
  const { kind, callId, createdAt } = state.request
  const call = run.fold.calls.get(callId)
  const operation = {
    type: 'request',
    run,
    parent: run.operation,
    agent: call?.agent ?? '',
    kind,
    tool: call?.name ?? '',
    callId,
    startedAt: createdAt * 1000,
  } as const
  void observation.report(operation, endOf(state))
}

function endOf({ request, answer, denied }: RequestState): OperationEnd {
  const isDenied = denied !== undefined || (request.kind === 'confirmation' && !decisionOf(answer ?? {}).confirmed)
  return { outcome: isDenied ? 'denied' : 'completed' }
}
