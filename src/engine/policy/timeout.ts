import { overrideTool } from '../tool/override-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { checkPolicyOptions, DURATION, requireOption, requireTool } from './check-policy.ts'

/**
 * Limits how long the body of a tool may run, in milliseconds. Replaces the runner's `toolTimeoutMs` for this tool. If
 * a tool has several time limits, the shortest applies. The time that a call waits for an approval or in the queue of
 * another policy is not included.
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
