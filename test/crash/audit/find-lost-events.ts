import type { Evidence } from './evidence.ts'

/** Gaps in the log, and events that a caller got and that are not in it, or that came in another order. */
export function findLostEvents({ rows, lines }: Evidence): string[] {
  const problems = rows.entries.flatMap(({ seq }, at) =>
    seq === at + 1 ? [] : [`Entry ${at + 1} has the sequence number ${seq}.`],
  )
  if (rows.seq !== rows.entries.length)
    problems.push(`The session counts ${rows.seq} entries of ${rows.entries.length}.`)
  const seqById = new Map(rows.entries.map(({ eventId, seq }) => [eventId, seq]))
  if (
    new Set(rows.entries.flatMap(({ eventId }) => eventId ?? [])).size <
    rows.entries.filter((one) => one.eventId).length
  )
    problems.push('Two events have one id.')
  let last = 0
  for (const line of lines) {
    if (line.type !== 'got') continue
    const seq = seqById.get(line.eventId)
    if (seq === undefined) problems.push(`A caller got event ${line.eventId}, which is not in the log.`)
    else if (seq <= last) problems.push(`A caller got event ${line.eventId} after a later one.`)
    last = seq ?? last
  }
  return problems
}
