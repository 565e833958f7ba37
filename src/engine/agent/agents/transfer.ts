import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { type CompiledSchema, compileSchema } from '../../../core/schema/compile.ts'
import type { OfferedTool } from '../../model/llm-request.ts'
import { overrideTool } from '../../tool/override-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Agent } from './agent.ts'

/** The name of the tool that a model calls to transfer the conversation. */
export const TRANSFER_TO_AGENT = 'transfer_to_agent'

const DESCRIPTION = 'Transfer the conversation to another agent that fits the request better.'

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
    description: DESCRIPTION,
    effect: 'none',
    ...targetsOf(agents),
    // any name is accepted here: the response to a wrong one lists the reachable agents
    parse: (args) => anyNameParser()(args),
    run: (args, context) => {
      if (isRecord(args)) context.transferToAgent(String(args.agent_name))
      return { status: 'ok' }
    },
  }
  return made
}

/** The transfer tool from `tools` of an agent at its position in a tree: its declaration names the reachable agents. */
export function withTransferTargets(tool: Tool, agents: readonly Agent[]): Tool {
  return TARGETS in tool && agents.length ? overrideTool(tool, targetsOf(agents)) : tool
}

function targetsOf(agents: readonly Agent[]): Pick<Tool, 'declaration'> & { [TARGETS]: readonly Agent[] } {
  const parametersJsonSchema = schemaOf([...new Set(agents.map(({ name }) => name))])
  const declaration = { name: TRANSFER_TO_AGENT, description: DESCRIPTION, parametersJsonSchema }
  return { declaration: () => declaration, [TARGETS]: agents }
}

/** The schema of the arguments. Without names, any string is one. */
function schemaOf(names: readonly string[]): JsonObject {
  const agentName = { type: 'string', description: 'The name of the agent.', ...(names.length && { enum: names }) }
  return { type: 'object', properties: { agent_name: agentName }, required: ['agent_name'] }
}

let anyName: CompiledSchema['parse'] | undefined

function anyNameParser(): CompiledSchema['parse'] {
  anyName ??= compileSchema(schemaOf([]), `Tool "${TRANSFER_TO_AGENT}"`, { object: true }).parse
  return anyName
}

/**
 * The name and description of each agent that a transfer tool can transfer to. Undefined if the tool has no list of
 * agents.
 */
export function transferTargets(
  tool: OfferedTool | undefined,
): readonly { name: string; description: string }[] | undefined {
  const agents = (tool as { [TARGETS]?: readonly Agent[] } | undefined)?.[TARGETS]
  return agents?.length ? agents.map(({ name, description = '' }) => ({ name, description })) : undefined
}

/** The instruction that lists the agents a model can transfer to. `parent`: the one of them that is its parent. */
export function transferInstruction(agents: readonly Agent[], parent: Agent | undefined): string {
  const lines = agents.map(({ name, description }) => `- ${name}${description ? `: ${description}` : ''}`)
  const otherwise = parent
    ? `If yours fits best, answer yourself. If no description fits, yours included, transfer to "${parent.name}", your parent agent.`
    : 'Otherwise answer yourself.'
  return [
    `To transfer the conversation to another agent, call ${TRANSFER_TO_AGENT} with the name of the agent:`,
    ...lines,
    `Transfer when the description of another agent fits the request better than yours, and write no text in that reply. ${otherwise}`,
  ].join('\n')
}
