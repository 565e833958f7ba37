import type { Event } from './event.ts'
import { REQUEST_PREFIX } from './request-names.ts'

/**
 * Does the event show requests of the framework to a client? A model may call a function of the same name, but its replies have
 * `turnComplete`, and the calls of its code have no ids in `longRunningToolIds`.
 */
export function showsRequests({ content, longRunningToolIds, turnComplete }: Event): boolean {
  if (!longRunningToolIds || turnComplete || content?.role !== 'model') return false
  return content.parts.some(
    ({ functionCall: call }) => call?.name?.startsWith(REQUEST_PREFIX) && longRunningToolIds.includes(call.id ?? ''),
  )
}
