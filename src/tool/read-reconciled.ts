import { isRecord } from '../base/json.ts'
import type { Reconciled } from './tool.ts'

/** What `reconcile` returned, or undefined when it is nothing that can be relied on: then the outcome is unknown. */
export function readReconciled(found: unknown): Reconciled | undefined {
  if (!isRecord(found)) return undefined
  const { status, result } = found
  if (status === 'done') return Object.hasOwn(found, 'result') ? { status, result } : undefined
  return status === 'not-done' || status === 'unknown' ? { status } : undefined
}
