import type { Event, FunctionCall, FunctionResponse } from 'toolwright'
import type { Entry } from 'toolwright/store'
import type { LedgerLine } from '../ledger/ledger-line.ts'
import type { RawRows } from '../rows/raw-rows.ts'

/** What is left of a session after all kills, when all work is done. */
export interface Evidence {
  /** What the database holds. */
  readonly rows: RawRows
  /** What the outside world knows of the session, in order. */
  readonly lines: readonly LedgerLine[]
}

/** A tool call of the log. */
export interface LoggedCall {
  /** The idempotency key: invocation id and call id. */
  readonly key: string
  readonly call: FunctionCall
  /** Was it made in a live session? */
  readonly isLive: boolean
  /** Its final responses. */
  readonly responses: readonly FunctionResponse[]
  /** The sequence number of its first intent. */
  readonly intentSeq: number | undefined
}

/** The log as typed entries. The auditor has checked their numbers. */
export function entriesOf({ rows }: Evidence): readonly Entry[] {
  return rows.entries.map(({ seq, eventId, body }) =>
    // what the product has stored; a field that is missing shows up as a violation
    eventId === null ? ({ seq, record: body } as Entry) : ({ seq, event: body } as Entry),
  )
}

/** The events of the log. */
export function eventsOf(evidence: Evidence): readonly Event[] {
  return entriesOf(evidence).flatMap(({ event }) => event ?? [])
}

/** The responses in an event. */
export function responsesIn({ content }: Event): readonly FunctionResponse[] {
  return content?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? []
}

/** The tool calls of the log, without the requests to people. */
export function callsOf(evidence: Evidence): readonly LoggedCall[] {
  const entries = entriesOf(evidence)
  const events = eventsOf(evidence)
  return events.flatMap(({ author, invocationId, content, live }) =>
    (content?.parts ?? []).flatMap(({ functionCall: call }) => {
      if (!call || author === 'user' || call.name.startsWith('adk_request_')) return []
      const own = events.filter((event) => event.invocationId === invocationId).flatMap(responsesIn)
      const intent = entries.find(
        ({ record }) =>
          record?.type === 'intent' &&
          record.invocationId === invocationId &&
          record.calls.some(({ id }) => id === call.id),
      )
      const responses = own.filter(({ id, willContinue }) => id === call.id && willContinue !== true)
      const key = `${invocationId}/${call.id}`
      return [{ key, call, isLive: live === true, responses, intentSeq: intent?.seq }]
    }),
  )
}

/** How often the outside world has seen a call. */
export function countLines({ lines }: Evidence, type: 'body' | 'effect' | 'reconciled', key: string): number {
  return lines.filter((line) => line.type === type && line.key === key).length
}
