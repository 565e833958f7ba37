// P5: a copy of a session runs no call of its origin again, no process claims it before it is complete, and an unfinished one is removed.
import type { CopyEvidence, Evidence, LedgerEntry } from '../evidence.ts'
import { needsApproval, type Plan } from '../plan.ts'
import type { Violation } from './violation.ts'

export function* copies({ copies: all, journal, plan }: Evidence): Iterable<Violation> {
  for (const copy of all) {
    yield* ranAgain(copy, plan)
    if (copy.kind === 'fork') yield* wasSeenTooEarly(copy, journal)
    if (copy.isUnfinished) yield { promise: 'P5', says: `${copy.session}: the unfinished copy was not removed` }
  }
}

/** A fork and an import are finished. In copied rows, calls may go on that need no approval. */
function* ranAgain({ kind, session, origin, ledger }: CopyEvidence, plan: Plan): Iterable<Violation> {
  for (const entry of ledger) {
    if (kind === 'rows' && !neededApproval(entry, plan)) continue
    const { tool, key, step } = entry
    const why = kind === 'rows' ? `without an approval in it` : 'although its invocation had ended'
    yield { promise: 'P5', says: `${session}: ${tool} (${key}) ${step} in this copy (${kind}) of ${origin}, ${why}` }
  }
}

/** A body that requests its own confirmation may begin without one. No client answers in a copy. */
function neededApproval({ step, tool, args }: LedgerEntry, { tools }: Plan): boolean {
  const spec = tools.find(({ name }) => name === tool)
  if (!spec || (step !== 'began' && step !== 'effect' && step !== 'ended')) return false
  return needsApproval(spec, args) && (spec.gate !== 'body' || step !== 'began')
}

function* wasSeenTooEarly({ session }: CopyEvidence, journal: Evidence['journal']): Iterable<Violation> {
  const own = journal.filter((one) => one.session === session && one.done)
  const completed = own.find(({ completes }) => completes)?.tick ?? Number.POSITIVE_INFINITY
  for (const { method, tick, process } of own) {
    if (method === 'claim' && tick < completed)
      yield { promise: 'P5', says: `${session}: ${process} claimed the copy before it was complete` }
  }
}
