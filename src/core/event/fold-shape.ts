// The shape of a stored fold. A stored value of another shape is damaged: the fold is computed from the log instead.
import {
  aBoolean,
  aCount,
  aNumber,
  aRecord,
  aString,
  exactly,
  listOf,
  maybe,
  pairOf,
  type Shape,
  withMembers,
} from '../base/shape.ts'

const event: Shape = withMembers({
  id: aString,
  invocationId: aString,
  author: aString,
  timestamp: aNumber,
  actions: aRecord,
  content: maybe(withMembers({ parts: listOf(aRecord) })),
})

/** The shape of a response to a call. */
export const responseShape: Shape = withMembers({ id: maybe(aString), name: aString, response: aRecord })

const request: Shape = withMembers({
  type: (value) => value === 'request',
  id: aString,
  invocationId: aString,
  path: aString,
  callId: aString,
  kind: (value) => value === 'confirmation' || value === 'credential' || value === 'input',
  origin: (value) => value === 'gate' || value === 'body',
  key: maybe(aString),
  args: aRecord,
  definition: aString,
  createdAt: aNumber,
  expiresAt: maybe(aNumber),
})

const engine: Shape = exactly({
  args: maybe(aRecord),
  attempt: maybe(exactly({ id: aString, crashes: aCount })),
})

const call: Shape = exactly({
  id: aString,
  name: aString,
  args: aRecord,
  path: aString,
  isCode: aBoolean,
  at: aNumber,
  madeIn: (value) => value === 'text' || value === 'live',
  agent: aString,
  intent: aBoolean,
  wasInterrupted: aBoolean,
  intentArgs: maybe(aRecord),
  response: maybe(responseShape),
  pending: aBoolean,
  handle: maybe(aRecord),
  handledAt: maybe(aNumber),
  pendingSince: aCount,
  background: maybe(exactly({ until: maybe(aNumber), hasIntent: aBoolean, engine: maybe(engine) })),
  isLost: aBoolean,
  requests: listOf(exactly({ request, seq: aCount, answer: maybe(aRecord), denied: maybe(aString) })),
})

const counts: Shape = maybe(listOf(pairOf(aString, aCount)))

const scope: Shape = exactly({
  path: aString,
  branch: maybe(aString),
  isolation: maybe(aString),
  active: maybe(aString),
  transfers: aCount,
  calls: listOf(aString),
  answered: aBoolean,
  escalated: aBoolean,
  skipped: aBoolean,
  grounding: maybe(aRecord),
  ended: aBoolean,
  error: maybe(exactly({ code: aString, message: aString })),
  speakers: listOf(exactly({ name: aString, replies: aCount })),
  corrections: aCount,
  failures: counts,
  earlierFailures: counts,
  reopenedAt: aCount,
})

/** The shape of `FoldCheckpoint`. */
export const foldShape: Shape = exactly({
  invocationId: aString,
  start: maybe(aString),
  firstSeq: aCount,
  replies: aCount,
  userEvent: maybe(event),
  isForeign: aBoolean,
  scopes: listOf(scope),
  calls: listOf(call),
  toolsetCalls: listOf(pairOf(aString, listOf(aString))),
  lastReplies: listOf(pairOf(aString, event)),
  waiting: listOf(aString),
})
