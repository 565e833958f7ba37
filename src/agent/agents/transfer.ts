import { isRecord } from '../../base/json.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Agent } from './agent.ts'

/** The name of the tool that a model calls to transfer the conversation. */
export const TRANSFER_TO_AGENT = 'transfer_to_agent'

const declaration: FunctionDeclaration = {
  name: TRANSFER_TO_AGENT,
  description: 'Transfer the conversation to another agent that fits the request better.',
  parametersJsonSchema: {
    type: 'object',
    properties: { agent_name: { type: 'string', description: 'The name of the agent.' } },
    required: ['agent_name'],
  },
}

/**
 * The tool that a model calls to transfer the conversation. Agents that have a sub-agent, a parent or a sibling get it
 * automatically. Add it to `tools` to let the model transfer to every agent of the tree.
 */
export function transferToAgent(): Tool {
  return transferTool([])
}

const TARGETS: unique symbol = Symbol.for('toolwright.transfer-targets')

/**
 * The transfer tool of an agent that can transfer to `agents`. Scripted models read the targets with `transferTargets`.
 */
export function transferTool(agents: readonly Agent[]): Tool {
  const made: Tool & { [TARGETS]: readonly Agent[] } = {
    name: TRANSFER_TO_AGENT,
    description: declaration.description,
    effect: 'none',
    declaration: () => declaration,
    run: (args, context) => {
      if (isRecord(args)) context.transferToAgent(String(args.agent_name))
      return { status: 'ok' }
    },
    [TARGETS]: agents,
  }
  return made
}

/**
 * The name and description of each agent that a transfer tool can transfer to. Undefined if the tool has no list of
 * agents.
 */
export function transferTargets(tool: Tool | undefined): readonly { name: string; description: string }[] | undefined {
  const agents = (tool as { [TARGETS]?: readonly Agent[] } | undefined)?.[TARGETS]
  return agents?.length ? agents.map(({ name, description = '' }) => ({ name, description })) : undefined
}

/** The instruction that lists the agents a model can transfer to. */
export function transferInstruction(agents: readonly Agent[]): string {
  const lines = agents.map(({ name, description }) => `- ${name}${description ? `: ${description}` : ''}`)
  return [
    `To transfer the conversation to another agent, call ${TRANSFER_TO_AGENT} with the name of the agent:`,
    ...lines,
    'Transfer when the description of another agent fits the request better than yours, and write no text in that reply. Otherwise answer yourself.',
  ].join('\n')
}
