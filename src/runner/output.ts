// The answer of a completed run as a value: parsed and validated with the agent's `outputSchema`.
import type { Agent } from '../agent/agent.ts'
import { parseAnswer } from '../agent/final-answer.ts'
import { LlmAgent } from '../agent/llm-agent.ts'
import { SequentialAgent } from '../agent/workflow.ts'
import type { CompiledSchema } from '../schema/compile.ts'

/** The schema of an agent's answer. The answer of a sequence is the answer of its last agent. */
export function outputSchemaOf(agent: Agent | undefined): CompiledSchema | undefined {
  if (agent instanceof LlmAgent) return agent.output
  return agent instanceof SequentialAgent ? outputSchemaOf(agent.subAgents.at(-1)) : undefined
}

/** Undefined when the text does not fit: another agent answered after a transfer, or a callback replaced the answer. */
export async function parseOutput(schema: CompiledSchema, text: string): Promise<unknown> {
  return (await parseAnswer(schema, text)).value
}
