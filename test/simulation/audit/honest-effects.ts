// P4: what happened outside is what the effect class allows, and the log says nothing else about it.
import type { Evidence, LedgerEntry } from '../evidence.ts'
import type { ToolSpec } from '../plan.ts'
import { type AuditedCall, type AuditedLog, finalOf, isError } from './log.ts'
import type { Violation } from './violation.ts'

/** Answers that say: the body did nothing. */
const DID_NOTHING = ['CANCELLED', 'NOT_FOUND', 'INVALID_ARGS', 'DEFINITION_CHANGED']

export function* honestEffects(evidence: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  const { ledger, plan, mishaps } = evidence
  const byKey = Map.groupBy(ledger, ({ key }) => key)
  for (const [key, entries] of byKey) yield* oftenEnough(key, entries)
  for (const log of logs) {
    for (const call of log.calls.values()) {
      const spec = plan.tools.find(({ name }) => name === call.name)
      if (!spec || spec.effect === 'none') continue
      yield* toldAsItWas(log, call, spec, byKey.get(call.key) ?? [])
    }
  }

  function* oftenEnough(key: string, entries: readonly LedgerEntry[]): Iterable<Violation> {
    const effects = entries.filter(({ step }) => step === 'effect')
    const { effect, tool, session } = entries[0] as LedgerEntry
    const applied = effects.filter(({ repeated }) => !repeated).length
    if (applied <= 1) return
    if (effect === 'reconcilable' && isSomebodyStillAtIt(key, entries)) return
    yield { promise: 'P4', says: `${session}: ${tool} (${key}, ${effect}) took effect ${applied} times` }
  }

  /** Asked what became of it while the process that had begun it lives on: nobody can know what that will still do. */
  function isSomebodyStillAtIt(key: string, entries: readonly LedgerEntry[]): boolean {
    const log = logs.find(({ calls }) => calls.has(key))
    const intents = log?.calls.get(key)?.intents.map(({ seq }) => log.stored(seq)) ?? []
    return entries.some(
      ({ step, tick }) =>
        step === 'reconciled' && intents.some((by) => by && by.tick < tick && !diedBefore(by.process, tick)),
    )
  }

  function diedBefore(process: string, tick: number): boolean {
    return mishaps.some((one) => one.process === process && one.type === 'died' && one.tick < tick)
  }
}

function* toldAsItWas(
  log: AuditedLog,
  call: AuditedCall,
  { effect, gate }: ToolSpec,
  entries: readonly LedgerEntry[],
): Iterable<Violation> {
  const who = `${log.session}: ${call.name} (${call.key})`
  const effects = entries.filter(({ step }) => step === 'effect')
  const began = entries.filter(({ step }) => step === 'began')
  const byBody = call.asked.filter(({ request }) => request.origin === 'body').length
  if (effect === 'atMostOnce' && began.length > 1 + byBody)
    yield { promise: 'P4', says: `${who} began ${began.length} times and may do so once` }
  const first = call.responses[0]
  if (!first || first.event.author === 'user') return
  const { response, seq } = first
  const by = log.stored(seq)
  const isUnknown = response.status === 'unknown_outcome'
  if (isUnknown && call.intents.length === 0)
    yield { promise: 'P4', says: `${who} is said to be unknown and never began` }
  const isNormal = !isError(response) && response.status !== 'cancelled'
  if (isNormal && !effects.some(({ tick }) => tick < (by?.tick ?? 0)))
    yield { promise: 'P4', says: `${who} is said to have worked, and nothing happened outside` }
  const intent = call.intents.findLast((one) => one.seq < seq)
  const interrupted =
    intent && log.stored(intent.seq)?.epoch !== by?.epoch && !call.asked.some((one) => one.seq > intent.seq)
  if (effect === 'atMostOnce' && interrupted && !isUnknown)
    yield { promise: 'P4', says: `${who} was interrupted and is not said to be unknown: ${JSON.stringify(response)}` }
  const isTakenForInterrupted = isUnknown && /was interrupted/.test(String(response.error))
  if (isTakenForInterrupted && !interrupted)
    yield { promise: 'P4', says: `${who} is said to have been interrupted, and its run was not` }
  const asked = entries.findLast((one) => one.step === 'reconciled' && one.tick < (by?.tick ?? 0))
  if (isTakenForInterrupted && asked?.found === 'done')
    yield { promise: 'P4', says: `${who} was found done, and is said to be unknown` }
  const final = finalOf(call)
  const saysNothing =
    final?.response.status === 'cancelled' ||
    (isError(final?.response ?? {}) && DID_NOTHING.includes(String(final?.response.errorCode)))
  if (saysNothing && gate !== 'longRunning' && effects.length > 0)
    yield { promise: 'P4', says: `${who} took effect, and is answered: ${JSON.stringify(final?.response)}` }
}
