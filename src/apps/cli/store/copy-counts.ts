import type { StoreCounts } from '../../../services/sql/copy/count-rows.ts'

/** How much both stores hold. */
export interface CopyCounts {
  /** The source. */
  readonly from: StoreCounts
  /** The target. */
  readonly to: StoreCounts
}

/** Whether both stores hold as much of each kind. */
export function isEqualCount({ from, to }: CopyCounts): boolean {
  return [...from].every(([kind, count]) => to.get(kind) === count)
}

/** A table with a line for each kind. */
export function countsText({ from, to }: CopyCounts): string {
  const rows = [...from].map(([kind, count]) => [kind, numberText(count), numberText(to.get(kind) ?? 0)] as const)
  const lines = [['', 'from', 'to'] as const, ...rows].map(
    ([kind, ours, theirs]) => `${kind.padEnd(18)}${ours.padStart(14)}${theirs.padStart(14)}\n`,
  )
  return lines.join('')
}

function numberText(count: number): string {
  return count.toLocaleString('en')
}
