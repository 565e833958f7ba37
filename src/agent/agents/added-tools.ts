import type { SourcedTool } from '../../dispatch/resolve.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import type { Model } from '../../tool/model.ts'
import type { Agent } from './agent.ts'
import { finalAnswerTool } from './final-answer.ts'
import { transferTool } from './transfer.ts'

/** How the model gives a structured answer: `native` is a response schema in the request, `tool` is a tool call. */
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
