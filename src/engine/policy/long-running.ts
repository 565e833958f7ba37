import type { FunctionDeclaration } from '../../core/content/content.ts'
import { addPendingNote } from '../tool/long-running-note.ts'
import { overrideTool } from '../tool/override-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { requireTool } from './check-policy.ts'

/**
 * Marks a tool whose result arrives later. The body returns a first, pending result, and a client sends the final
 * result. The declaration tells the model not to call the tool again while the result is pending.
 *
 * @example
 * const vacation = longRunning(requestVacation)
 */
export function longRunning<T extends Tool>(tool: T): T {
  requireTool('longRunning', tool)
  let original: FunctionDeclaration | undefined
  let declared: FunctionDeclaration | undefined
  const declaration = (): FunctionDeclaration | undefined => {
    const current = tool.declaration()
    if (current !== original) {
      original = current
      declared = current && addPendingNote(current)
    }
    return declared
  }
  return overrideTool(tool, { isLongRunning: true, declaration })
}
