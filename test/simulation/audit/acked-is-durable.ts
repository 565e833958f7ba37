// P1: every event that a client received is in the log, and every event in the log was yielded.
import type { ActionEvidence, Evidence, JournalEntry } from '../evidence.ts'
import { type AuditedLog, canonical } from './log.ts'
import type { Violation } from './violation.ts'

export function* ackedIsDurable(evidence: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const log of logs) {
    yield* isDense(log)
    yield* yieldsEveryEvent(evidence, log)
  }
  for (const action of evidence.actions) yield* yieldsOnlyStoredEvents(action, logs)
}

function* isDense({ session, evidence: { entries } }: AuditedLog): Iterable<Violation> {
  const ids = new Set<string>()
  for (const [at, { seq, event }] of entries.entries()) {
    if (seq !== at + 1) yield { promise: 'P1', says: `${session}: entry ${at + 1} has the number ${seq}` }
    if (event && ids.has(event.id)) yield { promise: 'P1', says: `${session}: event ${event.id} is in the log twice` }
    if (event) ids.add(event.id)
  }
}

function* yieldsOnlyStoredEvents(action: ActionEvidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  const last = new Map<string, number>()
  for (const { event, tick } of action.yielded) {
    if (event.partial) continue
    const found = find(logs, event.id)
    if (!found) {
      yield { promise: 'P1', says: `${action.says}: event ${event.id} was yielded and is in no log` }
      continue
    }
    const { log, seq } = found
    if ((log.stored(seq)?.tick ?? Number.POSITIVE_INFINITY) > tick)
      yield { promise: 'P1', says: `${action.says}: event ${event.id} was yielded before it was stored` }
    const stored = log.evidence.entries[seq - 1]?.event
    if (stored !== event && canonical(stored) !== canonical(event))
      yield { promise: 'P1', says: `${action.says}: event ${event.id} was yielded with other content than stored` }
    if (seq <= (last.get(log.session) ?? 0))
      yield { promise: 'P1', says: `${action.says}: event ${event.id} was yielded out of order` }
    last.set(log.session, seq)
  }
}

function find(logs: readonly AuditedLog[], eventId: string): { log: AuditedLog; seq: number } | undefined {
  for (const log of logs) {
    const entry = log.evidence.entries.find(({ event }) => event?.id === eventId)
    if (entry) return { log, seq: entry.seq }
  }
  return undefined
}

/** The caller of the run that stored an event has received it, unless the run was interrupted. */
function* yieldsEveryEvent({ actions, journal, mishaps }: Evidence, log: AuditedLog): Iterable<Violation> {
  const byEpoch = new Map<number, string[]>()
  // no caller receives the events of cancel(), neither from it nor from the next holder
  const isCancelled = actions.some(({ type, session }) => type === 'cancel' && session === log.session)
  const unread = isCancelled ? closings(log) : []
  for (const { seq, event } of log.evidence.entries) {
    const by = log.stored(seq)
    if (!by || !event || event.author === 'user' || unread.includes(by.tick)) continue
    byEpoch.set(by.epoch, [...(byEpoch.get(by.epoch) ?? []), event.id])
  }
  for (const [epoch, ids] of byEpoch) {
    const calls = journal.filter((one) => one.session === log.session && one.epoch === epoch)
    const process = calls[0]?.process ?? ''
    if (calls.some(hasFailed) || mishaps.some((one) => one.process === process)) continue
    const readers = actions.filter((one) => one.process === process)
    if (readers.some(({ outcome, error }) => outcome === 'left' || error?.code === 'LEASE_LOST')) continue
    if (readers.some(({ completes, error }) => completes && error)) continue
    if (readers.some(({ yielded }) => ids.every((id) => yielded.some(({ event }) => event.id === id)))) continue
    yield { promise: 'P1', says: `${log.session}: no caller received ${ids.join(', ')}` }
  }
}

function hasFailed({ told, error }: JournalEntry): boolean {
  return told !== 'answer' || error !== undefined
}

/** The ticks at which invocations were cancelled. */
function closings({ evidence, stored }: AuditedLog): (number | undefined)[] {
  return evidence.entries.flatMap(({ seq, event }) => (event?.errorCode === 'CANCELLED' ? [stored(seq)?.tick] : []))
}
