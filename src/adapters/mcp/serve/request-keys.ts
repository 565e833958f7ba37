import type { PendingRequest } from '../../../core/event/pending-request.ts'

/** The requests by the key that the tool chose, or by their kind. Keys of several calls may be equal: they are numbered. */
export function requestKeys(requests: readonly PendingRequest[]): Map<string, PendingRequest> {
  const keys = new Map<string, PendingRequest>()
  for (const request of requests) {
    const name = request.key ?? request.kind
    let key = name
    for (let at = 2; keys.has(key); at++) key = `${name}_${at}`
    keys.set(key, request)
  }
  return keys
}
