import type { JsonObject } from '../../core/base/json.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { ScopePath } from '../../core/event/scope.ts'
import type { Batch, EventDraft, RunRecorder } from './host.ts'

/** Yields a progress value of a running call as a partial event. */
export function emitProgress({ host, agentName, scope }: Batch, id: string, name: string, value: unknown): void {
  const { value: progress, bytes } = toJsonValue(value, host.services.maxResultBytes)
  const response = { progress: bytes > host.services.maxResultBytes ? { truncated: true, bytes } : progress }
  host.recorder.emit(progressEvent(host.recorder, { agentName, scope }, { id, name, response }))
}

/** The event that shows progress of a call. */
export function progressEvent(
  recorder: Pick<RunRecorder, 'draft'>,
  { agentName, scope }: { readonly agentName: string; readonly scope: ScopePath },
  call: { readonly id: string; readonly name: string; readonly response: JsonObject },
): EventDraft {
  const parts = [{ functionResponse: { ...call, willContinue: true } }]
  return recorder.draft(agentName, scope, { role: 'tool', parts }, {})
}
