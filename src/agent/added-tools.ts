import type { SourcedTool } from '../dispatch/resolve.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import type { Model } from '../tool/model.ts'
import { finalAnswerTool } from './final-answer.ts'
import { transferToAgent } from './transfer.ts'

/** How a structured answer is asked for: in the request itself, or with a tool. */
export type OutputMode = 'native' | 'tool' | undefined

/** Natively where the model can: with tools beside it many cannot. */
export function outputMode(
  output: CompiledSchema | undefined,
  hasTools: boolean,
  model: Model | undefined,
): OutputMode {
  if (!output) return undefined
  return hasTools && !model?.capabilities?.toolsWithOutputSchema ? 'tool' : 'native'
}

/** The tools the framework gives an agent besides its own. */
export function addedTools(options: {
  readonly canTransfer: boolean
  readonly output: CompiledSchema | undefined
  readonly mode: OutputMode
}): SourcedTool[] {
  const { canTransfer, output, mode } = options
  const source = 'the framework'
  const added: SourcedTool[] = []
  if (canTransfer) added.push({ tool: transferToAgent(), source })
  if (output && mode === 'tool') added.push({ tool: finalAnswerTool(output), source })
  return added
}
