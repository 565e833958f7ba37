// P4: cancelled long-running work may still take effect. Its response says so and keeps the handle, and `cancel` of its
// tool was called.
import type { Evidence } from '../evidence.ts'
import { type AuditedCall, type AuditedLog, canonical, finalOf } from './log.ts'
import type { Violation } from './violation.ts'

export function* cancelledWork({ plan, ledger }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const log of logs) {
    for (const call of log.calls.values()) {
      const spec = plan.tools.find(({ name }) => name === call.name)
      const final = finalOf(call)
      if (spec?.gate !== 'longRunning' || !final || final.event.author === 'user') continue
      const recorded = call.responses.find(({ isFinal }) => !isFinal)?.response ?? final.response.handle
      if (!recorded && !hadReturned(log, call, final.seq)) continue
      const handle = recorded ?? { ticket: call.id }
      const who = `${log.session}: ${call.name} (${call.key})`
      const { response } = final
      // work without an effect has no unknown outcome
      const isSaid =
        spec.effect === 'none'
          ? response.errorCode === 'CANCELLED' || response.status === 'cancelled'
          : response.errorCode === 'UNKNOWN_OUTCOME'
      if (!isSaid || canonical(response.handle) !== canonical(handle))
        yield { promise: 'P4', says: `${who} was started, and is answered: ${JSON.stringify(response)}` }
      if (spec.cancel && !wasTold(log, call, final.seq))
        yield { promise: 'P4', says: `${who} was started and cancelled, and its tool was not told` }
    }
  }

  /** Whether its body had returned to the run that answers the call. Then its signal is not aborted. */
  function hadReturned({ stored }: AuditedLog, { key, intents }: AuditedCall, seq: number): boolean {
    const { process, tick = 0, epoch } = stored(seq) ?? {}
    if (!intents.some((intent) => stored(intent.seq)?.epoch === epoch)) return false // another run had started it
    const own = ledger.filter((one) => one.key === key && one.process === process && one.tick < tick)
    return own.some(({ step }) => step === 'ended') && !own.some(({ step }) => step === 'stopped')
  }

  function wasTold({ stored }: AuditedLog, { key }: AuditedCall, seq: number): boolean {
    const { tick = 0, process } = stored(seq) ?? {}
    return ledger.some(
      (one) => one.key === key && one.step === 'cancelled' && one.process === process && one.tick < tick,
    )
  }
}
