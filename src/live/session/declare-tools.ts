import type { ToolTable } from '../../dispatch/resolve.ts'
import { backgroundOf } from '../../policy/background.ts'
import type { ConfigTool } from '../../tool/llm-request-config.ts'
import type { Tool } from '../../tool/tool.ts'

/** Which tools are declared, and how. */
export interface DeclareOptions {
  /** The tools by name. */
  readonly table: ToolTable
  /** The tools of the phase. Undefined: all. */
  readonly allowed: ReadonlySet<string> | undefined
  /** The names of tools that the session runs in the background. */
  readonly background: { has(name: string): boolean }
  /** Does the model go on while a call runs? */
  readonly nonBlocking: boolean
}

/** The declarations for a live model. It does not wait for tools whose result takes long: background, long-running and gated ones. */
export function declareTools(tools: readonly ConfigTool[], options: DeclareOptions): ConfigTool[] {
  const { table, allowed } = options
  return tools.flatMap((entry): ConfigTool[] => {
    if (!entry.functionDeclarations) return [entry]
    const functionDeclarations = entry.functionDeclarations
      .filter(({ name }) => allowed?.has(name) ?? true)
      .map((declaration) =>
        isNonBlocking(table.tools.get(declaration.name), options)
          ? { ...declaration, behavior: 'NON_BLOCKING' as const }
          : declaration,
      )
    return functionDeclarations.length ? [{ ...entry, functionDeclarations }] : []
  })
}

/** Does the model go on while a call of the tool runs? Only such a call may get several responses. */
export function isNonBlocking(
  tool: Tool | undefined,
  { background, nonBlocking }: Pick<DeclareOptions, 'background' | 'nonBlocking'>,
): boolean {
  if (!tool || !nonBlocking) return false
  const { name, isLongRunning, requiresConfirmation, authConfig } = tool
  return Boolean(
    background.has(name) || backgroundOf(tool) || isLongRunning || requiresConfirmation || authConfig !== undefined,
  )
}
