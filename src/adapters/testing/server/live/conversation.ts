import { isRecord, type JsonObject } from '../../../../core/base/json.ts'
import type { GeminiLiveCall, GeminiLiveCallRecord, GeminiLiveConversation } from '../../gemini-live-script.ts'

/** A conversation that several connections may continue, one after the other. */
export class Conversation implements GeminiLiveConversation {
  /** The id of the conversation. */
  readonly id: string
  /** The texts of the user, in order. */
  readonly turns: string[] = []
  /** The calls that have an id, by id. */
  readonly calls: Map<string, GeminiLiveCallRecord & { responses: JsonObject[] }> = new Map()
  /** The number of audio bytes that the client sent. */
  audioBytesIn = 0
  #handles = 0
  /** The names of the tools that are declared now and not NON_BLOCKING. */
  #blocking: ReadonlySet<unknown> = new Set()

  constructor(id: string) {
    this.id = id
  }

  /** Creates a handle of the conversation. */
  newHandle(): string {
    this.#handles += 1
    return `${this.id}-handle-${this.#handles}`
  }

  /** Records calls of the server. Calls without an id cannot be matched with responses. */
  addCalls(calls: readonly GeminiLiveCall[]): void {
    for (const call of calls) {
      const isBlocking = this.#blocking.has(call.name)
      if (call.id !== undefined) this.calls.set(call.id, { call, responses: [], isBlocking })
    }
  }

  /** Takes the tools of a setup or of an update. */
  declare(tools: unknown): void {
    const declared = recordsOf(tools).flatMap(({ functionDeclarations }) => recordsOf(functionDeclarations))
    this.#blocking = new Set(
      declared.filter(({ behavior }) => behavior !== 'NON_BLOCKING').map((declaration) => declaration.name),
    )
  }

  /** Records what a client sent. */
  addMessage(message: JsonObject, audioBytes: number): void {
    this.audioBytesIn += audioBytes
    const { realtimeInput, clientContent, toolResponse, contextUpdate } = message
    if (isRecord(contextUpdate) && isRecord(contextUpdate.tools)) this.declare(contextUpdate.tools.tools)
    if (isRecord(realtimeInput) && typeof realtimeInput.text === 'string') this.turns.push(realtimeInput.text)
    if (isRecord(clientContent)) this.turns.push(...recordsOf(clientContent.turns).flatMap(userTextOf))
    if (!isRecord(toolResponse)) return
    for (const response of recordsOf(toolResponse.functionResponses))
      this.calls.get(String(response.id))?.responses.push(response)
  }
}

/** The text of a user turn. Empty for other turns. */
function userTextOf({ role, parts }: JsonObject): string[] {
  const text = recordsOf(parts)
    .map((part) => part.text)
    .filter((one) => typeof one === 'string')
    .join('')
  return role === 'user' && text !== '' ? [text] : []
}

/** The objects of a list. */
export function recordsOf(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isRecord) : []
}
