import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { Batch } from './host.ts'

/** Yields a progress value of a running call as a partial event. */
export function emitProgress({ host, agentName, scope }: Batch, id: string, name: string, value: unknown): void {
  const { value: progress, bytes } = toJsonValue(value, host.services.maxResultBytes)
  const response = { progress: bytes > host.services.maxResultBytes ? { truncated: true, bytes } : progress }
  const parts = [{ functionResponse: { id, name, response, willContinue: true } }]
  const event = host.recorder.draft(agentName, scope, { role: 'tool', parts }, {})
  host.recorder.emit(event)
}
