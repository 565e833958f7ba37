// P5: an answer counts only for what was recorded when the answer arrived. The auditor works out from the journal of the
// store when that was; what the framework noted down about it does not count.
import { type Evidence, type JournalEntry, markIn } from '../evidence.ts'
import type { AuditedCall, AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

export function* earlyAnswers({ journal }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const log of logs) {
    for (const { mark, seq, since, call } of guessesIn(log)) {
      const arrived = arrivalOf(log, journal, mark, seq)
      if (!arrived || log.lengthAt(arrived.tick) >= since) continue
      const when = `${arrived.process} sent it at entry ${log.lengthAt(arrived.tick)}, and it was asked at ${since}`
      yield { promise: 'P5', says: `${log.session}: ${call.name} (${call.key}) takes an answer from before: ${when}` }
    }
  }
}

/** An answer in the log that was sent on a guess. */
interface Guess {
  readonly mark: string
  readonly seq: number
  /** The entry that asks for it. */
  readonly since: number
  readonly call: AuditedCall
}

function* guessesIn({ calls }: AuditedLog): Iterable<Guess> {
  for (const call of calls.values()) {
    for (const { seq: since, answer } of call.asked) {
      const mark = markIn(answer?.response)
      if (mark && answer) yield { mark, seq: answer.seq, since, call }
    }
    const [handle, ...results] = call.responses
    for (const { seq, event, response } of results) {
      const mark = event.author === 'user' ? markIn(response) : undefined
      if (mark && handle) yield { mark, seq, since: handle.seq, call }
    }
  }
}

/** The first post that holds it; without one, its sender came to hold the session with it. */
function arrivalOf(
  { session, stored }: AuditedLog,
  journal: readonly JournalEntry[],
  mark: string,
  seq: number,
): JournalEntry | undefined {
  const here = journal.filter((one) => one.session === session && one.done)
  const { epoch } = stored(seq) ?? {}
  return (
    here.find(({ posted }) => posted?.mark === mark) ??
    here.find((one) => one.method === 'claim' && one.epoch === epoch)
  )
}
