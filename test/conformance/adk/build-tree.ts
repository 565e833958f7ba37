// Builds the agents of a recorded case. Models and tools give what was recorded.
import {
  type Agent,
  agentTool,
  type CallbackContext,
  type Example,
  exampleTool,
  exitLoop,
  googleMapsGrounding,
  googleSearch,
  type JsonObject,
  LlmAgent,
  type LlmAgentOptions,
  type LlmRequest,
  LoopAgent,
  type Model,
  ParallelAgent,
  type Part,
  SequentialAgent,
  type Tool,
  urlContext,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import type { RecordedAgent, RecordedCase, RecordedContent, RecordedDeclaration } from './recorded-case.ts'

/** The agents of a case, and the requests that their models get, in order. */
export interface BuiltCase {
  readonly agent: Agent
  readonly requests: readonly { readonly agent: string; readonly request: LlmRequest }[]
}

const SERVER_TOOLS = ['googleSearch', 'urlContext', 'googleMaps']

/** Builds the agents of a case. */
export function buildCase(recorded: RecordedCase): BuiltCase {
  const requests: { agent: string; request: LlmRequest }[] = []
  const modelOf = (name: string): Model => {
    const steps = repliesOf(recorded, name).map((content): ScriptedStep => {
      return (request) => {
        requests.push({ agent: name, request })
        return { parts: partsOf(content) }
      }
    })
    return scriptedModel(steps, { capabilities: { serverTools: SERVER_TOOLS } })
  }
  return { agent: build(recorded, 'root_agent.yaml', modelOf), requests }
}

/** The parts of a recorded content. */
export function partsOf({ parts }: RecordedContent): Part[] {
  return parts.flatMap(({ text, function_call: call }): Part[] => {
    if (call) return [{ functionCall: { name: call.name, args: call.args ?? {} } }]
    return text === undefined ? [] : [{ text }]
  })
}

function repliesOf({ recordings }: RecordedCase, agent: string): RecordedContent[] {
  return recordings.flatMap(({ agent_name, llm_recording: call }) =>
    call && agent_name === agent ? [call.llm_response.content] : [],
  )
}

function build(recorded: RecordedCase, file: string, modelOf: (name: string) => Model): Agent {
  const config = recorded.agent(file)
  const { name, description } = config
  const subAgents = (config.sub_agents ?? []).map((one) => build(recorded, one.config_path, modelOf))
  const common = { name, description, subAgents }
  switch (config.agent_class) {
    case 'SequentialAgent':
      return new SequentialAgent(common)
    case 'ParallelAgent':
      return new ParallelAgent(common)
    case 'LoopAgent':
      return new LoopAgent({ ...common, maxIterations: config.max_iterations ?? 10 })
    default:
      return new LlmAgent({
        ...common,
        ...callbacksOf(recorded, config),
        model: modelOf(name),
        instruction: config.instruction,
        generateContentConfig: config.generate_content_config,
        disallowTransferToParent: config.disallow_transfer_to_parent,
        disallowTransferToPeers: config.disallow_transfer_to_peers,
        tools: (config.tools ?? []).flatMap((tool) => toolsOf(recorded, tool)),
      })
  }
}

/** Callbacks that write the recorded state. When none is left, `beforeAgent` answers with the last recorded text. */
function callbacksOf({ events }: RecordedCase, config: RecordedAgent): Partial<LlmAgentOptions> {
  const deltas = events.flatMap(({ author, content, actions }) =>
    author === config.name && !content && actions?.state_delta ? [actions.state_delta] : [],
  )
  const write = (context: CallbackContext): boolean => {
    const delta = deltas.shift()
    for (const [key, value] of Object.entries(delta ?? {})) context.state.set(key, value)
    return delta !== undefined
  }
  const last = events.at(-1)?.content
  if (config.before_agent_callbacks)
    return {
      beforeAgent: ({ context }) => (write(context) || !last ? undefined : { role: 'model', parts: partsOf(last) }),
    }
  if (!config.after_agent_callbacks) return {}
  return {
    afterAgent: ({ context }) => {
      write(context)
    },
  }
}

function toolsOf(recorded: RecordedCase, { name, args }: { name: string; args?: JsonObject }): Tool[] {
  switch (name) {
    case 'google_search':
      return [googleSearch()]
    case 'url_context':
      return [urlContext()]
    case 'google_maps_grounding':
      return [googleMapsGrounding()]
    case 'exit_loop':
      return [exitLoop()]
    case 'ExampleTool':
      return [exampleTool((args as unknown as { examples: Example[] }).examples)] // contents have the same members in both
    case 'AgentTool':
      return [calledAgent(recorded, (args as unknown as { agent: { config_path: string } }).agent.config_path)]
    case 'McpToolset':
      return declarationsOf(recorded).map((declaration) => standIn(recorded, declaration))
    default: {
      const declared = declarationsOf(recorded).find((one) => one.name === name.split('.').at(-1))
      if (!declared) throw new Error(`Case ${recorded.name} has no declaration of the tool ${name}.`)
      return [standIn(recorded, declared)]
    }
  }
}

function declarationsOf({ recordings }: RecordedCase): readonly RecordedDeclaration[] {
  const tools = recordings.find((one) => one.llm_recording)?.llm_recording?.llm_request.config.tools
  return tools?.flatMap((one) => one.function_declarations ?? []) ?? []
}

function responsesOf({ recordings }: RecordedCase, name: string): JsonObject[] {
  const responses = recordings.flatMap(({ tool_recording: call }) => call?.tool_response ?? [])
  return responses.filter((one) => one.name === name).map(({ response }) => response)
}

/** A tool with the recorded declaration and results. */
function standIn(recorded: RecordedCase, { name, description = '', parameters }: RecordedDeclaration): Tool {
  const responses = responsesOf(recorded, name)
  const parametersJsonSchema = parameters && (lowerTypes(parameters) as JsonObject)
  return {
    name,
    description,
    declaration: () => ({ name, description, ...(parametersJsonSchema && { parametersJsonSchema }) }),
    run: () => responses.shift(),
  }
}

/** An agent tool whose agent answers what was recorded. */
function calledAgent(recorded: RecordedCase, file: string): Tool {
  const { name, description, instruction } = recorded.agent(file)
  const answers = responsesOf(recorded, name).map(({ result }) => String(result))
  return agentTool(new LlmAgent({ name, description, instruction, model: scriptedModel(answers) }))
}

/** A schema with the types of JSON Schema: ADK records those of Gemini, in capitals. */
function lowerTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerTypes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      key === 'type' && typeof one === 'string' ? one.toLowerCase() : lowerTypes(one),
    ]),
  )
}
