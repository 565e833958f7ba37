import type { Effect } from '../../engine/tool/tool.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Does a method change nothing? */
export function isSafeMethod(method: string): boolean {
  return SAFE.has(method)
}

/** The side effects of an operation. A key that makes repeated requests harmless makes every method idempotent. */
export function effectOf(method: string, hasIdempotencyKey: boolean): Effect {
  if (isSafeMethod(method)) return 'none'
  return hasIdempotencyKey || method === 'PUT' || method === 'DELETE' ? 'idempotent' : 'atMostOnce'
}
