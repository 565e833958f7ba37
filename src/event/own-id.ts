/** Ids the framework makes start with this: call ids it fills in, and ids of requests. No model or client may use it. */
export const OWN_ID_PREFIX = 'adk-'

/** A new id for a call or a request. */
export function newOwnId(ports: { newId(): string }): string {
  return OWN_ID_PREFIX + ports.newId()
}

/** Is it an id that only the framework makes? */
export function isOwnId(id: string): boolean {
  return id.startsWith(OWN_ID_PREFIX)
}
