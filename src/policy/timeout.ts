import { delegate } from '../tool/delegate.ts'
import type { Tool } from '../tool/tool.ts'
import { invalidPolicy, isDuration, requireTool } from './wrap.ts'

/**
 * Gives the body a deadline that replaces the runner's, shorter or longer; of several the shortest counts. Waiting for
 * a human or for a slot does not count.
 *
 * @example
 * timeout(search, 5_000)
 */
export function timeout<T extends Tool>(tool: T, ms: number): T {
  requireTool('timeout', tool)
  if (!isDuration(ms)) throw invalidPolicy('timeout', tool, 'the time must be a positive number of milliseconds.')
  return delegate(tool, { timeoutMs: Math.min(ms, tool.timeoutMs ?? ms) })
}
