import type { FunctionDeclaration } from '../content/content.ts'
import { notePending } from '../tool/define-pending.ts'
import { delegate } from '../tool/delegate.ts'
import type { Tool } from '../tool/tool.ts'
import { requireTool } from './wrap.ts'

/**
 * Marks a tool whose result comes later: what the body returns is a handle, and the model is told not to call again
 * meanwhile.
 *
 * @example
 * longRunning(requestVacation)
 */
export function longRunning<T extends Tool>(tool: T): T {
  requireTool('longRunning', tool)
  let from: FunctionDeclaration | undefined
  let declared: FunctionDeclaration | undefined
  const declaration = (): FunctionDeclaration | undefined => {
    const current = tool.declaration()
    if (current !== from) {
      from = current
      declared = current && notePending(current)
    }
    return declared
  }
  return delegate(tool, { isLongRunning: true, declaration })
}
