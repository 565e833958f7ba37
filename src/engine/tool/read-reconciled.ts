import { isRecord } from '../../core/base/json.ts'
import type { Reconciled } from './tool.ts'

/** Checks what `reconcile` returned. Undefined if it is invalid: then the outcome is unknown. */
export function readReconciled(found: unknown): Reconciled | undefined {
  if (!isRecord(found)) return undefined
  const { status, result } = found
  if (status === 'done') return Object.hasOwn(found, 'result') ? { status, result } : undefined
  return status === 'not-done' || status === 'unknown' ? { status } : undefined
}
