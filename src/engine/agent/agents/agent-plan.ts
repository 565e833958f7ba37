import { entryOf, type ToolEntry, type ToolTable } from '../../dispatch/resolve.ts'
import type { Model } from '../../model/model.ts'
import { callableFromCode, codeInstruction, codeTool } from '../code/code-tool.ts'
import { constantText } from '../request/instruction.ts'
import { fitServerTools } from '../request/server-tools.ts'
import { addedTools, chooseOutputMode, type OutputMode } from './added-tools.ts'
import type { Agent } from './agent.ts'
import type { Hooks } from './callbacks.ts'
import type { LlmAgent } from './llm-agent.ts'
import type { Instruction } from './llm-agent-options.ts'
import { isMissingModel } from './missing-model.ts'
import { TRANSFER_TO_AGENT, transferInstruction } from './transfer.ts'

/** Everything about an LlmAgent that is the same for all its model calls. */
export interface AgentPlan {
  /** The agent. */
  readonly agent: LlmAgent
  /** The agent's own model, or the model of the nearest agent above it. */
  readonly model: Model
  /** The callbacks of plugins and of the agent. */
  readonly hooks: Hooks
  /** The agent's own tools and the tools that the framework adds, without dynamic tools. */
  readonly table: ToolTable
  /** The tool that runs the code of the model. Undefined without a `codeExecutor`. */
  readonly code: ToolEntry | undefined
  /** The agents that the model can transfer to. */
  readonly reachable: readonly Agent[]
  /** The `globalInstruction` of the root agent. */
  readonly globalInstruction: Instruction | undefined
  /** The instruction that the framework adds: the agent's own name, the transfer targets, and how code runs. */
  readonly addedInstruction: string
  /** The whole system instruction if it is constant. */
  readonly constantInstruction: { readonly text: string } | undefined
  /** How the model returns a structured answer. */
  readonly output: OutputMode
}

/** The values that depend on the position of an agent in its tree. */
interface AgentPosition {
  readonly model: Model
  /** Does only a live model speak for the agent? */
  readonly isLive: boolean
  readonly hooks: Hooks
  readonly reachable: readonly Agent[]
  /** The parent that the agent can transfer to. */
  readonly parent: Agent | undefined
  /** Is it the only agent of its tree? */
  readonly isAlone: boolean
  readonly globalInstruction: Instruction | undefined
}

/** Makes the plan of an agent: its tools, and the parts of its instruction that the framework adds. */
export function makePlan(agent: LlmAgent, position: AgentPosition): AgentPlan {
  const { model, isLive, hooks, reachable, parent, isAlone, globalInstruction } = position
  const transferTo = hasOwnTransferTool(agent) ? [] : reachable
  const output = chooseOutputMode(agent.output, transferTo.length > 0 || agent.hasTools, model)
  const added = addedTools({ transferTo, output: agent.output, mode: output })
  const all = agent.tableWith(added, reachable)
  // what an agent says that only speaks is up to the live model, which has a table of its own
  const table = isLive || isMissingModel(model) ? all : fitServerTools(all, model, agent.name)
  const { codeExecutor, instruction, includeIdentity = true } = agent.options
  const addedInstruction = joinParagraphs([
    isAlone || !includeIdentity ? undefined : identityInstruction(agent),
    reachable.length ? transferInstruction(reachable, parent) : undefined,
    codeExecutor && codeInstruction(codeExecutor, callableFromCode(table)),
  ])
  const constants = [constantText(globalInstruction), constantText(instruction)]
  return {
    agent,
    model,
    hooks,
    table,
    code: codeExecutor && entryOf(codeTool(codeExecutor)),
    reachable,
    globalInstruction,
    addedInstruction,
    constantInstruction:
      constants[0] && constants[1]
        ? { text: joinParagraphs([constants[0].text, constants[1].text, addedInstruction]) }
        : undefined,
    output,
  }
}

/** Tells the model which of the agents it is: other agents, and the transfer instruction, name it. */
function identityInstruction({ name, description }: LlmAgent): string {
  const known = `You are the agent "${name}".`
  return description ? `${known} Other agents know this description of you: ${description}` : known
}

/** Do the agent's own `tools` have `transferToAgent()`? */
export function hasOwnTransferTool(agent: LlmAgent): boolean {
  return agent.table.entries.has(TRANSFER_TO_AGENT)
}

/** Joins the paragraphs of a system instruction, without empty ones. */
export function joinParagraphs(paragraphs: readonly (string | undefined)[]): string {
  return paragraphs.filter(Boolean).join('\n\n')
}
