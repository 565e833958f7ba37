import type { FunctionDeclaration } from '../../../core/content/content.ts'
import type { Effect, Tool } from '../../../engine/tool/tool.ts'

/** A tool, as the workbench shows it. */
interface ToolDescription {
  /** The name. */
  readonly name: string
  /** What the tool does. */
  readonly description: string
  /** The declaration that the model gets. */
  readonly declaration: FunctionDeclaration
  /** The side effects of the tool. */
  readonly effect: Effect
  /** Does the result arrive later? */
  readonly isLongRunning: boolean
  /** Do calls wait for an approval? `sometimes`: it depends on the arguments. */
  readonly needsConfirmation: 'always' | 'sometimes' | 'never'
  /** Does the tool need a credential? */
  readonly hasAuth: boolean
}

/** Describes a tool; undefined if the model cannot call it. */
export function describeTool(tool: Tool): ToolDescription | undefined {
  const declaration = tool.declaration()
  if (!declaration) return undefined
  const { name, description, effect = 'atMostOnce', isLongRunning = false, authConfig } = tool
  const needsConfirmation = confirmationOf(tool)
  const hasAuth = authConfig !== undefined && (!Array.isArray(authConfig) || authConfig.length > 0)
  return { name, description, declaration, effect, isLongRunning, needsConfirmation, hasAuth }
}

function confirmationOf({ requiresConfirmation }: Tool): ToolDescription['needsConfirmation'] {
  if (typeof requiresConfirmation === 'function') return 'sometimes'
  return requiresConfirmation === true ? 'always' : 'never'
}
