// Reads recorded conversations in the layout of google/adk-conformance: agents, user messages, model requests and replies, sessions.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { JsonObject } from 'toolwright'
import { parse } from 'yaml'

/** A part as it is recorded. */
export interface RecordedPart {
  readonly text?: string
  readonly function_call?: { readonly name: string; readonly args?: JsonObject }
  readonly function_response?: { readonly name: string; readonly response: JsonObject }
}

/** A content as it is recorded. */
export interface RecordedContent {
  readonly role?: string
  readonly parts: readonly RecordedPart[]
}

/** A function declaration as it is recorded, with types in capitals. */
export interface RecordedDeclaration {
  readonly name: string
  readonly description?: string
  readonly parameters?: JsonObject
}

/** The request of a recorded model call. */
export interface RecordedRequest {
  readonly contents: readonly RecordedContent[]
  readonly config: {
    readonly system_instruction?: string
    readonly temperature?: number
    readonly tools?: readonly ({ readonly function_declarations?: readonly RecordedDeclaration[] } & JsonObject)[]
  }
}

/** A model call or a tool call. */
export interface Recording {
  readonly agent_name: string
  readonly llm_recording?: {
    readonly llm_request: RecordedRequest
    readonly llm_response: { readonly content: RecordedContent }
  }
  readonly tool_recording?: {
    readonly tool_response: { readonly name: string; readonly response: JsonObject }
  }
}

/** An event of a recorded session. */
export interface RecordedEvent {
  readonly author: string
  readonly content?: RecordedContent
  readonly actions?: { readonly state_delta?: JsonObject; readonly transfer_to_agent?: string }
}

/** The configuration of an agent. */
export interface RecordedAgent {
  readonly agent_class?: string
  readonly name: string
  readonly description?: string
  readonly instruction?: string
  readonly max_iterations?: number
  readonly disallow_transfer_to_parent?: boolean
  readonly disallow_transfer_to_peers?: boolean
  readonly generate_content_config?: JsonObject
  readonly sub_agents?: readonly { readonly config_path: string }[]
  readonly tools?: readonly { readonly name: string; readonly args?: JsonObject }[]
  readonly before_agent_callbacks?: readonly unknown[]
  readonly after_agent_callbacks?: readonly unknown[]
}

/** A recorded conversation. */
export interface RecordedCase {
  readonly name: string
  readonly messages: readonly RecordedContent[]
  readonly recordings: readonly Recording[]
  readonly state: JsonObject
  readonly events: readonly RecordedEvent[]
  /** Reads the configuration of one of its agents. */
  agent(file: string): RecordedAgent
}

/** Every case of a folder. None if the folder does not exist. */
export function recordedCases(folder: string): RecordedCase[] {
  if (!existsSync(folder)) return []
  const shared = existsSync(join(folder, 'texts.yaml')) ? read<Texts>(join(folder, 'texts.yaml')) : {}
  return globSync('*/*/spec.yaml', { cwd: folder })
    .toSorted()
    .map((spec) => recordedCase(folder, dirname(spec).replaceAll('\\', '/'), shared))
}

type Texts = Readonly<Record<string, string>>

function recordedCase(folder: string, name: string, shared: Texts): RecordedCase {
  const at = join(folder, name)
  const own = existsSync(join(at, 'texts.yaml')) ? read<Texts>(join(at, 'texts.yaml')) : {}
  const texts = { ...shared, ...own }
  const file = <T>(path: string): T => fill(read(join(at, path)), texts) as T
  const spec = file<{ agent: string; user_messages: ({ text: string } | { content: RecordedContent })[] }>('spec.yaml')
  const { recordings } = file<{ recordings: Recording[] }>('generated-recordings.yaml')
  const { state, events } = file<{ state: JsonObject; events: RecordedEvent[] }>('generated-session.yaml')
  const messages = spec.user_messages.map((one) => ('content' in one ? one.content : { parts: [{ text: one.text }] }))
  const agent = (path: string): RecordedAgent => read(join(folder, 'agents', spec.agent, path))
  return { name, messages, recordings, state, events, agent }
}

function read<T>(file: string): T {
  return parse(readFileSync(file, 'utf8'))
}

/** Replaces `{{name}}` by a text of the case. A text may hold other texts. */
function fill(value: unknown, texts: Texts): unknown {
  if (typeof value === 'string') {
    const filled = value.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => texts[name] ?? whole)
    return filled === value ? value : fill(filled, texts)
  }
  if (Array.isArray(value)) return value.map((one) => fill(one, texts))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, texts)]))
}
