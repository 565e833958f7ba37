import type { Event } from './event.ts'
import { REQUEST_PREFIX } from './request-names.ts'

/**
 * Does the event show requests of the framework to a client? A model may call a function of the same name, but its replies have
 * `turnComplete`.
 */
export function showsRequests({ content, turnComplete }: Event): boolean {
  if (turnComplete || content?.role !== 'model') return false
  return content.parts.some(({ functionCall }) => functionCall?.name.startsWith(REQUEST_PREFIX))
}
