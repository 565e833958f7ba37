import type { JsonObject } from '../../../core/base/json.ts'
import { isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import type { FunctionDeclaration } from '../../../core/content/content.ts'
import { checkOptions, flag, type OptionRules, text } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ParseResult } from '../../../core/schema/issues.ts'
import type { Model } from '../../model/model.ts'
import type { Tool } from '../../tool/tool.ts'
import { AGENT } from '../../tool/tool-marks.ts'
import { type Agent, isAgent } from './agent.ts'
import { describeAgent } from './describe-agent.ts'
import { LlmAgent } from './llm-agent.ts'

/** Options of `agentTool()`. */
export interface AgentToolOptions {
  /** The name the model calls the tool by. Default: the agent's name. */
  readonly name?: string | undefined
  /** What the tool does, for the model. Default: the agent's description. */
  readonly description?: string | undefined
  /** Use the agent's answer as the final answer of the calling agent. Default false. */
  readonly skipSummarization?: boolean | undefined
  /** Show the events inside the agent tool to the runner's plugins. Default true. */
  readonly includePlugins?: boolean | undefined
  /** Copy the grounding metadata of the agent's answer to the next reply of the calling agent. Default false. */
  readonly propagateGroundingMetadata?: boolean | undefined
}

const RULES: OptionRules<AgentToolOptions> = {
  name: text,
  description: text,
  skipSummarization: flag,
  includePlugins: flag,
  propagateGroundingMetadata: flag,
}

/** The agent of an agent tool, and the options of the tool with their defaults. */
export interface AgentToolSettings {
  /** The agent to run. */
  readonly agent: Agent
  /** Use the agent's answer as the final answer of the calling agent. */
  readonly skipSummarization: boolean
  /** Show the events inside the agent tool to the runner's plugins. */
  readonly includePlugins: boolean
  /** Copy the grounding metadata of the agent's answer to the next reply of the calling agent. */
  readonly propagateGroundingMetadata: boolean
  /** The model of agents that have none. Default: the model of the calling agent. */
  readonly model?: Model | undefined
}

/**
 * Makes a tool of an agent. The arguments are `{ request }` (or the agent's `inputSchema`), the result is `{ text }`
 * (or the agent's output object). The agent shares the services, the budget and the cancellation of the calling run. It
 * sees only its own conversation.
 *
 * @example
 * const writer = new LlmAgent({ name: 'writer', model, tools: [agentTool(researcher)] })
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  if (!isAgent(agent))
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `The first argument of agentTool() must be an agent, got ${kindOf(agent)}. Pass for example new LlmAgent({ ... }).`,
    )
  checkOptions(`agentTool() of agent "${agent.name}"`, options, RULES)
  const name = options.name ?? agent.name
  const description = options.description ?? agent.description ?? `Ask the agent ${agent.name}.`
  const input = agent instanceof LlmAgent ? agent.input : undefined
  const output = agent instanceof LlmAgent ? agent.output : undefined
  const declaration: FunctionDeclaration = {
    name,
    description,
    parametersJsonSchema: input?.jsonSchema ?? requestSchema,
    ...(output && { responseJsonSchema: output.jsonSchema }),
  }
  const settings: AgentToolSettings = {
    agent,
    skipSummarization: options.skipSummarization === true,
    includePlugins: options.includePlugins !== false,
    propagateGroundingMetadata: options.propagateGroundingMetadata === true,
  }
  const made: Tool & { [AGENT]: AgentToolSettings } = {
    name,
    description,
    effect: 'none', // the tools of the agent declare their own effects
    declaration: () => declaration,
    parse: (args) => (input ? input.parse(args) : parseRequest(args)),
    run: () => {
      throw new ToolwrightError(
        'INTERNAL',
        `Agent tool "${name}" has no body: a runner runs its agent as a scope. Do not call run() of an agent tool.`,
      )
    },
    sendsTo: (context) => describeAgent(agent, context),
    [AGENT]: settings,
  }
  return made
}

/** The settings of an agent tool, also through policies, which keep symbol properties. Undefined for other tools. */
export function agentToolSettings(tool: Tool | undefined): AgentToolSettings | undefined {
  return (tool as { [AGENT]?: AgentToolSettings } | undefined)?.[AGENT]
}

const requestSchema: JsonObject = {
  type: 'object',
  properties: { request: { type: 'string', description: 'What the agent should do.' } },
  required: ['request'],
}

function parseRequest(args: unknown): ParseResult {
  if (isRecord(args) && Object.hasOwn(args, 'request') && typeof args.request === 'string') {
    return { value: { request: args.request } }
  }
  return { issues: [{ path: 'request', expected: 'string' }] }
}
