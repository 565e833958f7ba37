// Requests and events of ADK and of Toolwright in one form. What deviations say is left out: wording for models, and results of framework tools.
import type { Content, Event, JsonObject, LlmRequest, Part } from 'toolwright'
import type { RecordedContent, RecordedEvent, RecordedPart, RecordedRequest } from './recorded-case.ts'

/** A model request without wording. */
export interface ComparedRequest {
  readonly agent: string
  readonly contents: readonly unknown[]
  /** Declared functions with the names of their parameters; server tools by name. */
  readonly tools: readonly string[]
  /** The agents that the model can transfer to. */
  readonly agents: readonly string[]
  readonly temperature: unknown
  /** Does the instruction ask to transfer to the parent when no agent fits? */
  readonly handsBack: boolean
}

/** A recorded request. */
export function comparedRecording(agent: string, { contents, config }: RecordedRequest): ComparedRequest {
  const declared = (config.tools ?? []).flatMap((one) => one.function_declarations ?? [])
  const server = (config.tools ?? []).flatMap((one) =>
    Object.keys(one).filter((key) => key !== 'function_declarations'),
  )
  return {
    agent,
    contents: contents.map(recordedContent),
    tools: [...declared.map(({ name, parameters }) => signature(name, parameters)), ...server.map(camelCase)],
    agents: agentsIn(declared.find(({ name }) => name === 'transfer_to_agent')?.parameters),
    temperature: config.temperature,
    handsBack: config.system_instruction?.includes('transfer to your parent agent') ?? false,
  }
}

/** A request of ours. */
export function comparedRequest(agent: string, { contents, config }: LlmRequest): ComparedRequest {
  const declared = (config.tools ?? []).flatMap((one) => one.functionDeclarations ?? [])
  const server = (config.tools ?? []).flatMap((one) => Object.keys(one).filter((key) => key !== 'functionDeclarations'))
  return {
    agent,
    contents: contents.map(ownContent),
    tools: [...declared.map(({ name, parametersJsonSchema }) => signature(name, parametersJsonSchema)), ...server],
    agents: agentsIn(declared.find(({ name }) => name === 'transfer_to_agent')?.parametersJsonSchema),
    temperature: config.temperature,
    handsBack: config.systemInstruction?.includes('your parent agent') ?? false,
  }
}

/** The events of a recorded session that have content or change state. */
export function comparedSession(events: readonly RecordedEvent[]): unknown[] {
  return events.flatMap(({ author, content, actions }) =>
    comparedEvent(author, content && recordedContent(content), actions?.transfer_to_agent, actions?.state_delta),
  )
}

/** The events of our session that have content or change state. ADK records none of those inside an agent tool. */
export function comparedEvents(events: readonly Event[]): unknown[] {
  const outside = events.filter(({ isolationScope }) => isolationScope === undefined)
  return outside.flatMap(({ author, content, actions }) =>
    comparedEvent(author, content && ownContent(content), actions.transferToAgent, actions.stateDelta),
  )
}

function comparedEvent(author: string, content: unknown, to: string | undefined, delta: JsonObject | undefined) {
  const state = Object.keys(delta ?? {}).length ? delta : undefined
  return content || state ? [{ author, content, to, state }] : []
}

function recordedContent({ role, parts }: RecordedContent): unknown {
  return { role: role ?? 'user', parts: parts.map(recordedPart) }
}

function recordedPart({ text, function_call: call, function_response: response }: RecordedPart): unknown {
  if (call) return { call: call.name, args: call.args ?? {} }
  if (response) return { response: response.name, value: resultOf(response.name, response.response) }
  return contextText(text ?? '')
}

function ownContent({ role, parts }: Content): unknown {
  return { role: role === 'tool' ? 'user' : role, parts: parts.map(ownPart) }
}

function ownPart({ text, functionCall: call, functionResponse: response }: Part): unknown {
  if (call) return { call: call.name, args: call.args }
  if (response) return { response: response.name, value: resultOf(response.name, response.response) }
  return contextText(text ?? '')
}

/** The text without our or ADK's wording for calls of other agents. */
function contextText(text: string): string {
  const called = /^\[(\w+)\] called (?:tool )?`?([\w-]+)`? with /.exec(text)
  if (called) return `${called[1]} called ${called[2]}`
  const returned = /^\[(\w+)\] (?:got from ([\w-]+):|`([\w-]+)` tool returned)/.exec(text)
  return returned ? `${returned[1]} got a response of ${returned[2] ?? returned[3]}` : text
}

/** The result of a tool. Framework tools answer `{ status: 'ok' }` here, and agent tools `{ text }`. */
function resultOf(name: string, response: JsonObject): unknown {
  if (name === 'transfer_to_agent' || name === 'exit_loop') return 'done'
  return response.text ?? response.result ?? response
}

function signature(name: string, schema: JsonObject | undefined): string {
  return `${name}(${Object.keys((schema?.properties as JsonObject | undefined) ?? {}).join(', ')})`
}

function agentsIn(schema: JsonObject | undefined): string[] {
  const properties = schema?.properties as { agent_name?: { enum?: string[] } } | undefined
  return properties?.agent_name?.enum?.toSorted() ?? []
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
