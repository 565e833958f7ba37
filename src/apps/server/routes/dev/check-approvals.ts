import { ToolwrightError } from '../../../../core/error/error.ts'
import type { ServerParts } from '../../env.ts'

/**
 * Throws FORBIDDEN if the option `mayAnswer` decides who approves: what the route runs approves calls without asking. `what` names it,
 * `instead` says what to do.
 */
export function checkApprovals({ options }: ServerParts, what: string, instead: string): void {
  if (!options.mayAnswer) return
  const problem = `${what} approves calls, and the option mayAnswer decides who may do so`
  throw new ToolwrightError('FORBIDDEN', `${problem}. ${instead}`)
}
