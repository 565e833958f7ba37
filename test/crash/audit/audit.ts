// Finds what a kill has broken. Shares no code with the product: it reads rows of the database and lines of the ledger.
import type { Evidence } from './evidence.ts'
import { findLostEvents } from './find-lost-events.ts'
import { findMissingApprovals } from './find-missing-approvals.ts'
import { findOrphans } from './find-orphans.ts'
import { findUnfinishedInvocations } from './find-unfinished-invocations.ts'
import { findWrongEffects } from './find-wrong-effects.ts'
import { findWrongState } from './find-wrong-state.ts'

/** Returns one line for each violation. */
export function audit(evidence: Evidence): string[] {
  return [
    findLostEvents,
    findWrongEffects,
    findMissingApprovals,
    findOrphans,
    findWrongState,
    findUnfinishedInvocations,
  ].flatMap((find) => find(evidence))
}
