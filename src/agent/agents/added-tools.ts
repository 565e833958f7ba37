import type { SourcedTool } from '../../dispatch/resolve.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import type { Model } from '../../tool/model.ts'
import type { Agent } from './agent.ts'
import { finalAnswerTool } from './final-answer.ts'
import { transferTool } from './transfer.ts'

/** How a structured answer is asked for: in the request itself, or with a tool. */
export type OutputMode = 'native' | 'tool' | undefined

/** Natively where the model can: with tools beside it many cannot. */
export function chooseOutputMode(
  output: CompiledSchema | undefined,
  hasTools: boolean,
  model: Model | undefined,
): OutputMode {
  if (!output) return undefined
  return hasTools && !model?.capabilities?.toolsWithOutputSchema ? 'tool' : 'native'
}

/** The tools the framework gives an agent besides its own. */
export function addedTools(options: {
  /** The agents it can hand over to with the framework's tool. */
  readonly transferTo: readonly Agent[]
  readonly output: CompiledSchema | undefined
  readonly mode: OutputMode
}): SourcedTool[] {
  const { transferTo, output, mode } = options
  const source = 'the framework'
  const added: SourcedTool[] = []
  if (transferTo.length) added.push({ tool: transferTool(transferTo), source })
  if (output && mode === 'tool') added.push({ tool: finalAnswerTool(output), source })
  return added
}
