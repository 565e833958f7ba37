// Prints a simulation for developers who replay a seed.
import type { Report } from './simulate.ts'

/** The command that runs a seed again. */
export const replayCommand = (seed: number): string => `npm run simulate -- --seed ${seed}`

/** The trace, the logs, the ledger of the outside world, and the violations. */
export function showReport({ evidence, violations }: Report): string {
  const logs = evidence.sessions.flatMap(({ userId, sessionId, entries }) => [
    `\nlog of ${userId}/${sessionId}`,
    ...entries.map(({ seq, event, record }) => `${String(seq).padStart(5)} ${JSON.stringify(event ?? record)}`),
  ])
  const ledger = evidence.ledger.map(
    ({ tick, process, step, tool, key, args }) =>
      `${String(tick).padStart(5)} ${process}: ${tool} ${step} (${key}) ${JSON.stringify(args)}`,
  )
  const plan = JSON.stringify(evidence.plan, null, 1)
  return [plan, ...evidence.trace, ...logs, '\ndone outside', ...ledger, '', showVerdict(violations)].join('\n')
}

export function showVerdict(violations: Report['violations']): string {
  if (violations.length === 0) return 'All promises were kept.'
  return violations.map(({ promise, says }) => `${promise} ${says}`).join('\n')
}
