import { toPlain } from '../base/plain.ts'
import type { Batch } from './host.ts'

/** Shows a value of a running call to whoever follows the run. */
export function emitProgress({ host, agentName, scope }: Batch, id: string, name: string, value: unknown): void {
  const { value: progress, bytes } = toPlain(value, host.services.maxResultBytes)
  const response = { progress: bytes > host.services.maxResultBytes ? { truncated: true, bytes } : progress }
  const parts = [{ functionResponse: { id, name, response, willContinue: true } }]
  const event = host.recorder.draft(agentName, scope, { role: 'tool', parts }, {})
  event.partial = true
  host.recorder.emit(event)
}
