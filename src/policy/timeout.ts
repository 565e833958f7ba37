import { overrideTool } from '../tool/override-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { checkPolicyOptions, DURATION, requireOption, requireTool } from './check-policy.ts'

/**
 * Sets the time limit of a tool's body, in milliseconds. It replaces the runner's `toolTimeoutMs`. If a tool has several,
 * the shortest counts. Waiting for an approval or in the queue of another policy does not count.
 *
 * @example
 * const search = timeout(webSearch, 5_000)
 */
export function timeout<T extends Tool>(tool: T, ms: number): T {
  requireTool('timeout', tool)
  checkPolicyOptions('timeout', tool, { ms }, { ms: DURATION })
  requireOption('timeout', tool, 'ms', ms)
  return overrideTool(tool, { timeoutMs: Math.min(ms, tool.timeoutMs ?? ms) })
}
