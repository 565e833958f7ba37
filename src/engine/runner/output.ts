// The answer of a completed run as a value: parsed and validated with the agent's `outputSchema`.

import { withTimeout } from '../../core/base/with-timeout.ts'
import type { CompiledSchema } from '../../core/schema/compile.ts'
import type { Agent } from '../agent/agents/agent.ts'
import { parseAnswer } from '../agent/agents/final-answer.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { SequentialAgent } from '../agent/agents/workflow.ts'
import type { RunServices } from './run-services.ts'

/** The schema of an agent's answer. The answer of a sequence is the answer of its last agent. */
export function outputSchemaOf(agent: Agent | undefined): CompiledSchema | undefined {
  if (agent instanceof LlmAgent) return agent.output
  return agent instanceof SequentialAgent ? outputSchemaOf(agent.subAgents.at(-1)) : undefined
}

/**
 * Parses the answer. Undefined when the text does not match the schema: another agent answered after a transfer, or a
 * callback replaced the answer. Also undefined when an async validator takes longer than `toolTimeoutMs`: the run has
 * finished, so cancelling it would not end the wait.
 */
export async function parseOutput(
  schema: CompiledSchema,
  text: string,
  { toolTimeoutMs, ports }: Pick<RunServices, 'toolTimeoutMs' | 'ports'>,
): Promise<unknown> {
  const parsing = parseAnswer(schema, text)
  if (!(parsing instanceof Promise)) return parsing.value
  if (toolTimeoutMs === Number.POSITIVE_INFINITY) return (await parsing).value
  const parsed = await withTimeout(parsing, toolTimeoutMs, ports, () => undefined)
  return parsed?.value
}
