import type { ToolTable } from '../../../engine/dispatch/resolve.ts'
import type { ConfigTool } from '../../../engine/model/llm-request-config.ts'
import type { BackgroundOptions } from '../../../engine/policy/background.ts'
import { isNonBlocking } from './model-call.ts'

/** Which tools are declared, and how. */
export interface DeclareOptions {
  /** The tools by name. */
  readonly table: ToolTable
  /** The tools of the phase. Undefined: all. */
  readonly allowed: ReadonlySet<string> | undefined
  /** Tools that the session runs in the background, by name. */
  readonly background: ReadonlyMap<string, BackgroundOptions>
  /** Does the model go on while a call runs? */
  readonly nonBlocking: boolean
}

/** The declarations for a live model. It does not wait for tools whose result takes long: background, long-running and gated ones. */
export function declareTools(tools: readonly ConfigTool[], options: DeclareOptions): ConfigTool[] {
  const { table, allowed, background, nonBlocking } = options
  const goesOn = (name: string): boolean => {
    const entry = table.entries.get(name)
    return isNonBlocking(entry?.tool, background.get(name) ?? entry?.background, nonBlocking)
  }
  return tools.flatMap((entry): ConfigTool[] => {
    if (!entry.functionDeclarations) return [entry]
    const functionDeclarations = entry.functionDeclarations
      .filter(({ name }) => allowed?.has(name) ?? true)
      .map((declaration) =>
        goesOn(declaration.name) ? { ...declaration, behavior: 'NON_BLOCKING' as const } : declaration,
      )
    return functionDeclarations.length ? [{ ...entry, functionDeclarations }] : []
  })
}
