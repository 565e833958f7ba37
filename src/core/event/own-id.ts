/** The prefix of ids the framework creates: call ids a model left out, and request ids. Models and clients may not use it. */
export const OWN_ID_PREFIX = 'adk-'

/** Creates an id for a call or a request. */
export const newOwnId = (ports: { newId(): string }): string => OWN_ID_PREFIX + ports.newId()

/** Does the id have the prefix of the framework? */
export const isOwnId = (id: string): boolean => id.startsWith(OWN_ID_PREFIX)
