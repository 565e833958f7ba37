// P5: an expired request stays expired when the wall clock is set back.
import type { Evidence, SentAnswer } from '../evidence.ts'
import type { Asked, AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

export function* staysExpired(evidence: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const log of logs) {
    for (const { asked, name, key } of log.calls.values()) {
      for (const question of asked) {
        const problem = whyLate(question, log, evidence)
        if (problem) yield { promise: 'P5', says: `${log.session}: ${name} (${key}) is answered ${problem}` }
      }
    }
  }
}

function whyLate({ request, answer, denied }: Asked, log: AuditedLog, evidence: Evidence): string | undefined {
  const { expiresAt } = request
  if (!answer || expiresAt === undefined) return undefined
  if (denied !== undefined && denied < answer.seq) return 'after it was recorded as expired'
  const stored = log.stored(answer.seq)?.tick ?? Number.POSITIVE_INFINITY
  const isTold = evidence.actions.some(
    ({ error, endedAt = stored }) =>
      error?.code === 'EXPIRED' && error.message.includes(request.id) && endedAt < stored,
  )
  if (isTold) return 'after a client was told that it had expired'
  const sent = evidence.answers.filter((one) => isTo(one, request.id, request.callId) && one.tick < stored)
  if (sent.length > 0 && sent.every((one) => one.wall >= expiresAt && !isClockSet(evidence, one.tick, stored)))
    return 'by a client that sent the answer after its time'
  return undefined
}

function isTo({ requestId, guess }: SentAnswer, id: string, callId: string): boolean {
  return requestId === id || guess?.callId === callId
}

function isClockSet({ clockSteps }: Evidence, from: number, to: number): boolean {
  return clockSteps.some(({ tick }) => from < tick && tick < to)
}
