import { ToolwrightError } from '../../core/error/error.ts'

/** How long a lease lives without a renewal, in milliseconds. The default of the option `leaseMs`. */
export const DEFAULT_LEASE_MS = 15_000

/**
 * Shorter leases are refused. A runner renews at a third of the lease, and a healthy process can miss a timer by
 * hundreds of milliseconds (garbage collection, a tool that computes, a busy machine).
 */
const MIN_LEASE_MS = 1_000

/** Longer leases are refused: after a crash, the session would be unusable for more than a day. */
export const MAX_LEASE_MS = 86_400_000

/** The holder of a session that is being deleted. Meanwhile the session takes no inbox items: they would be lost with it. */
export const DELETING = 'toolwright: deleting'

/** Throws INVALID_CONFIG if the option `leaseMs` is not valid. */
export function checkLeaseMs(leaseMs: number): void {
  if (typeof leaseMs === 'number' && leaseMs >= MIN_LEASE_MS && leaseMs <= MAX_LEASE_MS) return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `leaseMs must be a number from ${MIN_LEASE_MS} to ${MAX_LEASE_MS}, got ${String(leaseMs)}.`,
  )
}
