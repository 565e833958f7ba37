// The contents that the model of an agent sees: one growing list, updated event by event. The log is never changed.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Content, FunctionResponse, Part } from '../../../core/content/content.ts'
import { codeCallOf, responseIn, responsePart } from '../../../core/event/code-call.ts'
import type { Event } from '../../../core/event/event.ts'
import { showsRequests } from '../../../core/event/invocation-state.ts'
import type { ScopePath } from '../../../core/event/scope.ts'
import type { CallGroup, GroupCall } from './call-group.ts'
import { contextMessage } from './context-message.ts'
import { eventsOf, type OpenCall } from './open-call.ts'
import { fitPart } from './sendable-calls.ts'
import { hasHiddenMedia, shownResponse } from './shown-response.ts'

/** Replies with more calls than this get a map of their calls by id. */
const FEW_CALLS = 16

/** Where a history begins. */
export interface HistoryStart {
  /** The index of the first event in it. */
  readonly event: number
  /** The calls of earlier events that were open there. They are shown first. */
  readonly open: readonly OpenCall[]
}

/** The first event of the log. */
export const BEGINNING_OF_LOG: HistoryStart = { event: 0, open: [] }

/** The history of one agent in one scope. */
export class History {
  readonly #agentName: string
  readonly #scope: ScopePath
  readonly #contents: Content[] = []
  readonly #usedIds: Set<string> | undefined
  /** The latest reply with calls, while some of them are open. */
  #group: CallGroup | undefined
  /** The number of events read so far. */
  #readCount: number
  /** The index of the latest message to the agent. */
  #turn = 0
  /** The indexes of the user's messages. */
  readonly #userMessages: number[] = []
  /** Placeholders and partial results that the model has seen, by logged call id. The final result replaces them. */
  #handles: Map<string, { readonly at: number; readonly call: GroupCall }> | undefined

  /** Where it begins. */
  readonly start: HistoryStart

  /** `hasRepeats`: the log may have a call id that is repeated or not sendable. */
  constructor(agentName: string, scope: ScopePath, hasRepeats = true, start: HistoryStart = BEGINNING_OF_LOG) {
    this.start = start
    this.#readCount = start.event
    this.#agentName = agentName
    this.#scope = scope
    this.#usedIds = hasRepeats ? new Set() : undefined
    for (const call of start.open) for (const event of eventsOf(call)) this.#add(event)
    if (this.#group) this.#closeGroup(this.#group)
  }

  /** Is it the history of this agent in this isolation scope and branch? */
  belongsTo(agentName: string, { isolation, branch }: ScopePath): boolean {
    return this.#agentName === agentName && this.#scope.isolation === isolation && this.#scope.branch === branch
  }

  /** Is it the history of an agent inside an agent tool? */
  get isIsolated(): boolean {
    return this.#scope.isolation !== undefined
  }

  /**
   * Adds new events and returns a copy for one request: all contents, or with `none` those since the latest message to
   * the agent. `eventsBefore`: the number of events of the log before those in `events`.
   */
  upTo(events: readonly Event[], which: 'default' | 'none' = 'default', eventsBefore = 0): Content[] {
    for (let at = this.#readCount - eventsBefore; at < events.length; at++) this.#add(events[at] as Event)
    this.#readCount = eventsBefore + events.length
    const shown = this.#contents.slice(which === 'none' ? this.#turn : 0)
    // calls of another invocation may be open
    if (this.#group) for (const content of groupContents(this.#group)) shown.push(content)
    return shown
  }

  /**
   * The index of the user's latest message in the result of `upTo()`, or of an `earlier` message: 1 is the message
   * before the latest. 0 if there is no such message.
   */
  turnStart(which: 'default' | 'none' = 'default', earlier = 0): number {
    const at = this.#userMessages[this.#userMessages.length - 1 - earlier] ?? 0
    return which === 'none' ? Math.max(0, at - this.#turn) : at
  }

  #add(event: Event): void {
    const { content, author } = event
    if (!content) return
    if (!this.#sees(event)) {
      if (author === 'user') this.#addUserResponses(content) // matched by call id, in any scope
      return
    }
    this.#closeOtherInvocation(event.invocationId)
    if (event.longRunningToolIds && showsRequests(event)) return // only clients see the request: the model sees the call, and later its response
    if (author === 'user') this.#addUserMessage(content)
    else if (content.role === 'user') this.#addInstruction(event, content)
    else if (author !== this.#agentName) this.#addContext(author, content.parts, 'said')
    else if (content.role === 'tool') this.#addResponses(content.parts)
    else if (content.parts.length) this.#addReply(event, content)
  }

  #sees(event: Event): boolean {
    if (event.isolationScope !== this.#scope.isolation) return false
    const own = this.#scope.branch
    const { branch } = event
    return own === undefined || branch === undefined || own === branch || own.startsWith(`${branch}.`)
  }

  /** Adds a message of the user. Tool responses in it replace those of their calls. */
  #addUserMessage(content: Content): void {
    this.#addUserResponses(content)
    const visible = content.parts.filter(isVisibleUserPart)
    if (visible.length === 0) return
    this.#addMessage(visible.length === content.parts.length ? content : { role: 'user', parts: visible })
    if (!this.#group) this.#userMessages.push(this.#turn)
  }

  #addUserResponses({ parts }: Content): void {
    for (const part of parts) if (part.functionResponse) this.#addResponse(part.functionResponse, [part])
  }

  /** Adds the request to an agent tool, or a message of the framework to one agent. Other agents see it as context. */
  #addInstruction({ author }: Event, content: Content): void {
    if (author === this.#agentName) this.#contents.push(content)
    else if (this.isIsolated && this.#contents.length === 0) this.#addMessage(content)
    else this.#addContext(author, content.parts, 'received')
  }

  /** Adds the content of another agent. */
  #addContext(author: string, parts: readonly Part[], verb: 'said' | 'received'): void {
    const message = contextMessage(author, parts, verb)
    if (message) this.#addMessage(message)
  }

  /** Adds a reply of the agent's own model. */
  #addReply({ invocationId }: Event, content: Content): void {
    if (this.#group) this.#closeGroup(this.#group)
    const { parts } = content
    let shown: Part[] | undefined // most replies are shown unchanged
    let calls: GroupCall[] | undefined
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as Part
      const fit = fitPart(part, this.#usedIds)
      if (fit !== part) shown ??= parts.slice(0, at)
      if (fit) shown?.push(fit)
      const called = fit?.functionCall ?? (part.executableCode && codeCallOf(parts, at))
      if (!called) continue
      const { id = '', name } = called
      calls ??= []
      const loggedId = part.functionCall?.id ?? (part.functionCall ? '' : id)
      calls.push({ loggedId, id, name, isCode: !part.functionCall, answer: undefined, isOpen: true })
    }
    if (shown?.length === 0) return
    if (this.#contents.length === 0) this.#contents.push(BEGINNING)
    this.#contents.push(shown ? { role: 'model', parts: shown } : content)
    if (!calls) return
    const byId = calls.length > FEW_CALLS ? Map.groupBy(calls, ({ loggedId }) => loggedId) : undefined
    this.#group = { at: this.#contents.length, invocationId, calls, byId, open: calls.length, late: undefined }
  }

  /** Adds tool responses. The media after a response belongs to it. */
  #addResponses(parts: readonly Part[]): void {
    for (let at = 0; at < parts.length; ) {
      const from = at++
      while (at < parts.length && !responseOf(parts[at] as Part)) at++
      const response = responseOf(parts[from] as Part)
      if (response) this.#addResponse(response, at - from === 1 ? [parts[from] as Part] : parts.slice(from, at))
    }
  }

  #addResponse(response: FunctionResponse, parts: readonly Part[]): void {
    const id = response.id ?? ''
    const group = this.#group
    const calls = group?.byId ? group.byId.get(id) : group?.calls.filter(({ loggedId }) => loggedId === id)
    const call = calls?.find(({ isOpen }) => isOpen) ?? calls?.[0]
    if (!group || !call) {
      this.#replaceHandle(id, parts)
      return
    }
    const isOpen = response.willContinue === true
    if (call.isOpen !== isOpen) group.open += isOpen ? 1 : -1
    call.isOpen = isOpen
    call.answer = shownParts(call, parts)
    if (group.open === 0) this.#closeGroup(group)
  }

  /** Closes the open group of another invocation. Open calls are shown with a placeholder. */
  #closeOtherInvocation(invocationId: string): void {
    if (this.#group && this.#group.invocationId !== invocationId) this.#closeGroup(this.#group)
  }

  /** Adds the responses of a group and the messages that arrived meanwhile. */
  #closeGroup(group: CallGroup): void {
    for (const call of group.calls) {
      if (!call.isOpen) continue
      this.#handles ??= new Map()
      this.#handles.set(call.loggedId, { at: group.at, call })
    }
    for (const content of groupContents(group)) this.#contents.push(content)
    if (group.late) this.#turn = this.#contents.length - 1
    this.#group = undefined
  }

  /** Replaces the placeholder or partial result of a call in a closed group. */
  #replaceHandle(loggedId: string, parts: readonly Part[]): void {
    const handle = this.#handles?.get(loggedId)
    const shown = handle && this.#contents[handle.at]
    if (!handle || !shown) return
    const { call, at } = handle
    const instead = shownParts(call, parts)
    const replaced = shown.parts.flatMap((part) => (responseIn(part)?.id === call.id ? instead : [part]))
    this.#contents[at] = { role: shown.role, parts: replaced }
    if (parts[0]?.functionResponse?.willContinue) return
    this.#handles?.delete(loggedId)
    // the call may be far back: a new message points to its result
    this.#addMessage({ role: 'user', parts: [{ text: `The result of ${call.name} (${call.id}) has arrived.` }] })
  }

  /** Adds a message to the agent, after the responses of open calls. */
  #addMessage(content: Content): void {
    if (!this.#group) this.#turn = this.#contents.push(content) - 1
    else if (this.#group.late) this.#group.late.push(content)
    else this.#group.late = [content]
  }
}

/** Can the part be sent as a user's? Users make no calls, and providers refuse empty text. */
export function isVisibleUserPart(part: Part): boolean {
  return !('functionResponse' in part) && !('functionCall' in part) && part.text !== ''
}

/** Added before a history that starts with a reply: providers require that the first content is not the model's. */
const BEGINNING: Content = { role: 'user', parts: [{ text: '(The conversation begins here.)' }] }

/** The response in a part. Results of code are rare. */
function responseOf(part: Part): FunctionResponse | undefined {
  return part.functionResponse ?? (part.codeExecutionResult && responseIn(part))
}

/** Shown for a call without a response in the log: the response is lost, or its invocation is still paused. */
const NO_RESULT: JsonObject = {
  error: 'No result was recorded for this call. Do not repeat the call unless the user asks you to.',
}

/** One response for each call, in call order, then the contents that arrived after the reply. */
function groupContents({ calls, late = [] }: CallGroup): Content[] {
  const parts = calls.flatMap((call) => call.answer ?? [responsePart(call, NO_RESULT)])
  return [{ role: 'tool', parts }, ...late]
}

/** A response and its media under the id and name that the model sees. A partial result looks like a final one. */
function shownParts({ id, name }: GroupCall, parts: readonly Part[]): readonly Part[] {
  const answer = parts[0]?.functionResponse
  if (!answer) return parts
  const { modelOutput } = answer
  if (answer.id === id && answer.name === name && answer.willContinue === undefined && modelOutput === undefined)
    return parts
  const { willContinue: _, modelOutput: __, ...response } = answer
  const functionResponse = { ...response, response: shownResponse(answer), id, name }
  return [{ functionResponse }, ...(hasHiddenMedia(answer) ? [] : parts.slice(1))]
}
