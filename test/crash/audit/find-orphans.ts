import { type Evidence, eventsOf } from './evidence.ts'

/** Inbox items and requests that are left over, and posted items that took effect twice or never. */
export function findOrphans(evidence: Evidence): string[] {
  const { rows, lines } = evidence
  const problems = [
    ...rows.inbox.map((id) => `Inbox item ${id} is left over.`),
    ...rows.pending.map(({ id }) => `Request ${String(id)} is still pending.`),
  ]
  const counts = new Map<string, number>()
  for (const { actions } of eventsOf(evidence)) {
    for (const key of Object.keys(actions.stateDelta ?? {})) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  for (const line of lines) {
    if (line.type === 'posted' && !counts.has(line.note)) problems.push(`Posted item ${line.note} is lost.`)
  }
  for (const [key, count] of counts) {
    if (key.startsWith('note-') && count > 1) problems.push(`Posted item ${key} took effect ${count} times.`)
  }
  return problems
}
