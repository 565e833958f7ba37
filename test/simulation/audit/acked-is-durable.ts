// P1: what a client was shown is in the log, and what is in the log was shown.
import type { ActionEvidence, Evidence, JournalEntry } from '../evidence.ts'
import { type AuditedLog, canonical } from './log.ts'
import type { Violation } from './violation.ts'

export function* ackedIsDurable(evidence: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const log of logs) {
    yield* isDense(log)
    yield* everythingWasShown(evidence, log)
  }
  for (const action of evidence.actions) yield* onlyStoredWasShown(action, logs)
}

function* isDense({ session, evidence: { entries } }: AuditedLog): Iterable<Violation> {
  const ids = new Set<string>()
  for (const [at, { seq, event }] of entries.entries()) {
    if (seq !== at + 1) yield { promise: 'P1', says: `${session}: entry ${at + 1} has the number ${seq}` }
    if (event && ids.has(event.id)) yield { promise: 'P1', says: `${session}: event ${event.id} is there twice` }
    if (event) ids.add(event.id)
  }
}

function* onlyStoredWasShown(action: ActionEvidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  const last = new Map<string, number>()
  for (const { event, tick } of action.yielded) {
    if (event.partial) continue
    const found = find(logs, event.id)
    if (!found) {
      yield { promise: 'P1', says: `${action.says}: event ${event.id} was shown and is in no log` }
      continue
    }
    const { log, seq } = found
    if ((log.stored(seq)?.tick ?? Number.POSITIVE_INFINITY) > tick)
      yield { promise: 'P1', says: `${action.says}: event ${event.id} was shown before it was stored` }
    const stored = log.evidence.entries[seq - 1]?.event
    if (stored !== event && canonical(stored) !== canonical(event))
      yield { promise: 'P1', says: `${action.says}: event ${event.id} was shown otherwise than it is stored` }
    if (seq <= (last.get(log.session) ?? 0))
      yield { promise: 'P1', says: `${action.says}: event ${event.id} was shown out of order` }
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

/** Whoever asked for the run that stored it has seen it, unless something happened to the run. */
function* everythingWasShown({ actions, journal, mishaps }: Evidence, log: AuditedLog): Iterable<Violation> {
  const byEpoch = new Map<number, string[]>()
  // nobody reads what cancel() writes, at once or through whoever holds the session next
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
    yield { promise: 'P1', says: `${log.session}: nobody was shown ${ids.join(', ')}` }
  }
}

function hasFailed({ told, error }: JournalEntry): boolean {
  return told !== 'answer' || error !== undefined
}

/** When invocations were ended before their end. */
function closings({ evidence, stored }: AuditedLog): (number | undefined)[] {
  return evidence.entries.flatMap(({ seq, event }) => (event?.errorCode === 'CANCELLED' ? [stored(seq)?.tick] : []))
}
