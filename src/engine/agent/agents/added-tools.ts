import type { CompiledSchema } from '../../../core/schema/compile.ts'
import type { SourcedTool } from '../../dispatch/resolve.ts'
import type { Model } from '../../model/model.ts'
import type { Agent } from './agent.ts'
import { finalAnswerTool } from './final-answer.ts'
import { transferTool } from './transfer.ts'

/**
 * How the model returns a structured answer: `native` adds a response schema to the request, `tool` adds a tool whose
 * arguments are the answer.
 */
export type OutputMode = 'native' | 'tool' | undefined

/** Chooses `native` if the model supports it. Many models do not accept a response schema together with tools. */
export function chooseOutputMode(
  output: CompiledSchema | undefined,
  hasTools: boolean,
  model: Model | undefined,
): OutputMode {
  if (!output) return undefined
  return hasTools && !model?.capabilities?.toolsWithOutputSchema ? 'tool' : 'native'
}

/** The tools that the framework adds to those of an agent. */
export function addedTools(options: {
  /** The agents that the model can transfer to with the framework's tool. */
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
