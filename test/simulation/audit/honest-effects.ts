// P4: effects on the outside world follow the declared effect of the tool, and the log reports them correctly.
import type { Evidence, LedgerEntry } from '../evidence.ts'
import type { ToolSpec } from '../plan.ts'
import { type AuditedCall, type AuditedLog, finalOf, isError } from './log.ts'
import type { Violation } from './violation.ts'

/** Error codes of calls whose body had no effect. */
const DID_NOTHING = ['CANCELLED', 'NOT_FOUND', 'INVALID_ARGS', 'DEFINITION_CHANGED']

export function* honestEffects(evidence: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  const { ledger, plan, mishaps } = evidence
  const byKey = Map.groupBy(ledger, ({ key }) => key)
  for (const [key, entries] of byKey) yield* hasAllowedCount(key, entries)
  for (const log of logs) {
    for (const call of log.calls.values()) {
      const spec = plan.tools.find(({ name }) => name === call.name)
      if (!spec || spec.effect === 'none') continue
      yield* isReportedCorrectly(log, call, spec, byKey.get(call.key) ?? [])
    }
  }

  function* hasAllowedCount(key: string, entries: readonly LedgerEntry[]): Iterable<Violation> {
    const effects = entries.filter(({ step }) => step === 'effect')
    const { effect, tool, session } = entries[0] as LedgerEntry
    const applied = effects.filter(({ repeated }) => !repeated).length
    if (applied <= 1) return
    if (effect === 'reconcilable' && isStillRunning(key, entries)) return
    yield { promise: 'P4', says: `${session}: ${tool} (${key}, ${effect}) took effect ${applied} times` }
  }

  /** Whether `reconcile` ran while the process that had started the call was alive. Its later effect cannot be known. */
  function isStillRunning(key: string, entries: readonly LedgerEntry[]): boolean {
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

function* isReportedCorrectly(
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
    yield { promise: 'P4', says: `${who} began ${began.length} times instead of once` }
  const first = call.responses[0]
  if (!first || first.event.author === 'user') return
  const { response, seq } = first
  const by = log.stored(seq)
  const isUnknown = response.status === 'unknown_outcome'
  if (isUnknown && call.intents.length === 0)
    yield { promise: 'P4', says: `${who} is reported as unknown, but never began` }
  const isNormal = !isError(response) && response.status !== 'cancelled'
  if (isNormal && !effects.some(({ tick }) => tick < (by?.tick ?? 0)))
    yield { promise: 'P4', says: `${who} is reported as successful, but had no effect` }
  const intent = call.intents.findLast((one) => one.seq < seq)
  const interrupted =
    intent && log.stored(intent.seq)?.epoch !== by?.epoch && !call.asked.some((one) => one.seq > intent.seq)
  if (effect === 'atMostOnce' && interrupted && !isUnknown)
    yield { promise: 'P4', says: `${who} was interrupted, but is not reported as unknown: ${JSON.stringify(response)}` }
  const isTakenForInterrupted = isUnknown && /was interrupted/.test(String(response.error))
  if (isTakenForInterrupted && !interrupted)
    yield { promise: 'P4', says: `${who} is reported as interrupted, but its run was not` }
  const asked = entries.findLast((one) => one.step === 'reconciled' && one.tick < (by?.tick ?? 0))
  if (isTakenForInterrupted && asked?.found === 'done')
    yield { promise: 'P4', says: `${who} was reconciled as done, but is reported as unknown` }
  const final = finalOf(call)
  const reportsNoEffect =
    final?.response.status === 'cancelled' ||
    (isError(final?.response ?? {}) && DID_NOTHING.includes(String(final?.response.errorCode)))
  if (reportsNoEffect && gate !== 'longRunning' && effects.length > 0)
    yield { promise: 'P4', says: `${who} took effect, but its response is ${JSON.stringify(final?.response)}` }
}
