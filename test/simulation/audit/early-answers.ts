// P5: an answer counts only for a request that was recorded before the answer arrived. The auditor takes the arrival from
// the journal of the store, not from the records of the framework.
import { type Evidence, type JournalEntry, markIn } from '../evidence.ts'
import type { AuditedCall, AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

export function* earlyAnswers({ journal }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const log of logs) {
    for (const { mark, seq, since, call } of guessesIn(log)) {
      const arrived = arrivalOf(log, journal, mark, seq)
      if (!arrived || log.lengthAt(arrived.tick) >= since) continue
      const when = `${arrived.process} sent it at entry ${log.lengthAt(arrived.tick)}, and its request is entry ${since}`
      yield { promise: 'P5', says: `${log.session}: ${call.name} (${call.key}) takes an answer from before: ${when}` }
    }
  }
}

/** A guessed answer in the log. */
interface Guess {
  readonly mark: string
  readonly seq: number
  /** The entry with its request. */
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

/** The first post with the answer. Without a post, the process that received the answer claimed the session. */
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
