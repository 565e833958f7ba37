import type { JsonObject } from '../../base/json.ts'
import { isRecord } from '../../base/json.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import { checkOptions, flag, type OptionRules, text } from '../../error/check-options.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Parsed } from '../../schema/issues.ts'
import { AGENT } from '../../tool/agent-mark.ts'
import type { Tool } from '../../tool/tool.ts'
import { type Agent, isAgent } from './agent.ts'
import { LlmAgent } from './llm-agent.ts'

export interface AgentToolOptions {
  /** Default: the agent's name. */
  readonly name?: string | undefined
  /** Default: the agent's description. */
  readonly description?: string | undefined
  /** The agent's answer is the caller's final answer. */
  readonly skipSummarization?: boolean | undefined
  /** Default true: the runner's plugins see what happens inside. */
  readonly includePlugins?: boolean | undefined
  /** What the agent's answer rests on is also said of the caller's next reply. */
  readonly propagateGroundingMetadata?: boolean | undefined
}

const RULES: OptionRules<AgentToolOptions> = {
  name: text,
  description: text,
  skipSummarization: flag,
  includePlugins: flag,
  propagateGroundingMetadata: flag,
}

/** What the walk knows of an agent tool. */
export interface AgentToolSettings {
  readonly agent: Agent
  readonly skipSummarization: boolean
  readonly includePlugins: boolean
  readonly propagateGroundingMetadata: boolean
}

/**
 * A whole agent as a tool: called with `{ request }` (or its `inputSchema`), it answers `{ text }` (or its output
 * object). It shares the caller's services, budget and cancellation, and sees only its own conversation.
 *
 * @example
 * const writer = new LlmAgent({ name: 'writer', model, tools: [agentTool(researcher)] })
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  if (!isAgent(agent)) throw new ToolwrightError('INVALID_CONFIG', 'agentTool() takes an agent as its first argument.')
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
  const mark: AgentToolSettings = {
    agent,
    skipSummarization: options.skipSummarization === true,
    includePlugins: options.includePlugins !== false,
    propagateGroundingMetadata: options.propagateGroundingMetadata === true,
  }
  const made: Tool & { [AGENT]: AgentToolSettings } = {
    name,
    description,
    effect: 'none', // what runs inside has effects of its own
    declaration: () => declaration,
    parse: (args) => (input ? input.parse(args) : parseRequest(args)),
    run: () => {
      throw new ToolwrightError('INTERNAL', `Agent tool "${name}" has no body: it is walked as a scope of the run.`)
    },
    [AGENT]: mark,
  }
  return made
}

/** The agent behind a tool, also through policies, which carry symbol properties along. */
export function agentToolSettings(tool: Tool | undefined): AgentToolSettings | undefined {
  return (tool as { [AGENT]?: AgentToolSettings } | undefined)?.[AGENT]
}

const requestSchema: JsonObject = {
  type: 'object',
  properties: { request: { type: 'string', description: 'What the agent should do.' } },
  required: ['request'],
}

function parseRequest(args: unknown): Parsed {
  if (isRecord(args) && Object.hasOwn(args, 'request') && typeof args.request === 'string') {
    return { value: { request: args.request } }
  }
  return { issues: [{ path: 'request', expected: 'string' }] }
}
