import type { CallView } from './views.ts'

/** How long a call has waited for answers and results, in seconds. Waits at the same time count once; an open one does not count. */
export function waitedSeconds({ waits }: Pick<CallView, 'waits'>): number {
  let waited = 0
  let until = 0
  for (const { from, to } of waits) {
    if (to === undefined) continue
    waited += Math.max(0, to - Math.max(from, until))
    until = Math.max(until, to)
  }
  return waited
}
