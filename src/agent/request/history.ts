// What an agent's model sees: one growing list, brought up to date event by event. The log itself is never changed.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { registerShape } from '../../base/object-shapes.ts'
import { codeAsText } from '../../content/code-text.ts'
import type { Content, FunctionResponse, Part } from '../../content/content.ts'
import { codeCallOf, responseIn, responsePart } from '../../event/code-call.ts'
import type { Event } from '../../event/event.ts'
import { isRequestName } from '../../event/request-names.ts'
import type { ScopePath } from '../../event/scope.ts'
import { fitPart } from './sendable-calls.ts'

/** Calls of the agent that are not all answered, and what became visible meanwhile. */
interface Group {
  readonly at: number
  readonly invocationId: string
  readonly calls: readonly GroupCall[]
  /** By logged id, made for a reply with many calls; of calls with one id, in order. */
  readonly byId: ReadonlyMap<string, readonly GroupCall[]> | undefined
  /** Calls without a final response. */
  open: number
  late: Content[] | undefined
}

interface GroupCall {
  /** As the log has it. */
  readonly loggedId: string
  /** As the model is shown them. */
  readonly id: string
  readonly name: string
  readonly isCode: boolean
  answer: readonly Part[] | undefined
  isOpen: boolean
}

/** Calls of one reply that are looked through one by one. */
const FEW_CALLS = 16

export class History {
  readonly #agentName: string
  readonly #scope: ScopePath
  readonly #contents: Content[] = []
  readonly #usedIds: Set<string> | undefined
  #group: Group | undefined
  #read: number
  /** Where what was said to the agent last stands. */
  #turn = 0
  /** Where the messages of the user stand. */
  readonly #said: number[] = []
  /** What the model has seen in place of a result, by call id: the result will replace it, if it comes. */
  #handles: Map<string, { readonly at: number; readonly call: GroupCall }> | undefined

  /** `hasRepeats`: the log may hold an id twice, or one that cannot be sent. `from`: nothing before it can be seen. */
  constructor(agentName: string, scope: ScopePath, hasRepeats = true, from = 0) {
    this.#read = from
    this.#agentName = agentName
    this.#scope = scope
    this.#usedIds = hasRepeats ? new Set() : undefined
  }

  isOf(agentName: string, { isolation, branch }: ScopePath): boolean {
    return this.#agentName === agentName && this.#scope.isolation === isolation && this.#scope.branch === branch
  }

  get isIsolated(): boolean {
    return this.#scope.isolation !== undefined
  }

  /** A list of its own for one request: all of it, or only what was said last to the agent and what it did since. */
  upTo(events: readonly Event[], which: 'default' | 'none' = 'default'): Content[] {
    while (this.#read < events.length) this.#add(events[this.#read++] as Event)
    const shown = this.#contents.slice(which === 'none' ? this.#turn : 0)
    if (this.#group) for (const content of closing(this.#group)) shown.push(content) // still open: another agent's model is asked
    return shown
  }

  /** Where the user's last message stands in what `upTo` gave, or one that many messages before it; 0 without one. */
  turnIn(which: 'default' | 'none' = 'default', earlier = 0): number {
    const said = this.#said[this.#said.length - 1 - earlier] ?? 0
    return which === 'none' ? Math.max(0, said - this.#turn) : said
  }

  #add(event: Event): void {
    const { content, author } = event
    if (!content) return
    if (!this.#sees(event)) {
      if (author === 'user') this.#hearAnswers(content) // found by the call's id, in whatever scope that is
      return
    }
    this.#closeOther(event.invocationId)
    if (isQuestion(event)) return // for humans: the model sees the call and, in the end, its response
    if (author === 'user') this.#hear(content)
    else if (content.role === 'user') this.#instruct(event, content)
    else if (author !== this.#agentName) this.#overhear(author, content.parts, 'said')
    else if (content.role === 'tool') this.#answers(content.parts)
    else if (content.parts.length) this.#reply(event, content)
  }

  #sees(event: Event): boolean {
    if (event.isolationScope !== this.#scope.isolation) return false
    const mine = this.#scope.branch
    const { branch } = event
    return mine === undefined || branch === undefined || mine === branch || mine.startsWith(`${branch}.`)
  }

  /** What the user said; answers to calls take the calls' place. */
  #hear(content: Content): void {
    this.#hearAnswers(content)
    const said = content.parts.filter(isSaid)
    if (said.length === 0) return
    this.#push(said.length === content.parts.length ? content : { role: 'user', parts: said })
    if (!this.#group) this.#said.push(this.#turn)
  }

  #hearAnswers({ parts }: Content): void {
    for (const part of parts) if (part.functionResponse) this.#answer(part.functionResponse, [part])
  }

  /** The request to an agent tool, or a word of the framework's to one agent: for the others it is hearsay. */
  #instruct({ author }: Event, content: Content): void {
    if (author === this.#agentName) this.#contents.push(content)
    else if (this.isIsolated && this.#contents.length === 0) this.#push(content)
    else this.#overhear(author, content.parts, 'was told')
  }

  #overhear(author: string, parts: readonly Part[], how: string): void {
    const told = asContext(author, parts, how)
    if (told) this.#push(told)
  }

  #reply({ invocationId }: Event, content: Content): void {
    if (this.#group) this.#close(this.#group)
    const { parts } = content
    let shown: Part[] | undefined // most replies are shown as they are
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

  /** Media after a response belongs to it. */
  #answers(parts: readonly Part[]): void {
    for (let at = 0; at < parts.length; ) {
      const from = at++
      while (at < parts.length && !answerOf(parts[at] as Part)) at++
      const response = answerOf(parts[from] as Part)
      if (response) this.#answer(response, at - from === 1 ? [parts[from] as Part] : parts.slice(from, at))
    }
  }

  #answer(response: FunctionResponse, parts: readonly Part[]): void {
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
    call.answer = shownFor(call, parts)
    if (group.open === 0) this.#close(group)
  }

  /** An unfinished group of another invocation is repaired here; the log is untouched. */
  #closeOther(invocationId: string): void {
    if (this.#group && this.#group.invocationId !== invocationId) this.#close(this.#group)
  }

  #close(group: Group): void {
    for (const call of group.calls) {
      if (!call.isOpen) continue
      this.#handles ??= new Map()
      this.#handles.set(call.loggedId, { at: group.at, call })
    }
    for (const content of closing(group)) this.#contents.push(content)
    if (group.late) this.#turn = this.#contents.length - 1
    this.#group = undefined
  }

  #replaceHandle(loggedId: string, parts: readonly Part[]): void {
    const handle = this.#handles?.get(loggedId)
    const shown = handle && this.#contents[handle.at]
    if (!handle || !shown) return
    const { call, at } = handle
    const instead = shownFor(call, parts)
    const replaced = shown.parts.flatMap((part) => (responseIn(part)?.id === call.id ? instead : [part]))
    this.#contents[at] = { role: shown.role, parts: replaced }
    if (parts[0]?.functionResponse?.willContinue) return
    this.#handles?.delete(loggedId)
    // far back by now: the model is told that there is something new
    this.#push({ role: 'user', parts: [{ text: `The result of ${call.name} (${call.id}) has arrived.` }] })
  }

  #push(content: Content): void {
    if (!this.#group) this.#turn = this.#contents.push(content) - 1
    else if (this.#group.late) this.#group.late.push(content)
    else this.#group.late = [content]
  }
}

/** The response in a part; code results are rare. */
function answerOf(part: Part): FunctionResponse | undefined {
  return part.functionResponse ?? (part.codeExecutionResult && responseIn(part))
}

/** Only a model calls; and what says nothing would be refused. */
function isSaid(part: Part): boolean {
  return !('functionResponse' in part) && !('functionCall' in part) && part.text !== ''
}

/** In place of a result that is not in the log: lost, or still waited for by an invocation that another one overtook. */
const NO_RESULT: JsonObject = {
  error: 'No result was recorded so far. Do not repeat the call unless you are asked to.',
}

/** Each call with one response, in call order; then what came meanwhile. */
function closing({ calls, late = [] }: Group): Content[] {
  const parts = calls.flatMap((call) => call.answer ?? [responsePart(call, NO_RESULT)])
  return [{ role: 'tool', parts }, ...late]
}

/** A conversation begins with somebody who is not the model. */
const BEGINNING: Content = { role: 'user', parts: [{ text: '(The conversation begins here.)' }] }

/** Only the framework says of a call that it will be answered later; a model that calls such a name does not. */
function isQuestion({ content, longRunningToolIds, turnComplete }: Event): boolean {
  if (!longRunningToolIds || turnComplete || content?.role !== 'model') return false
  return content.parts.some(
    ({ functionCall: call }) => call && isRequestName(call.name) && longRunningToolIds.includes(call.id ?? ''),
  )
}

/** An answer under the id and the name its call is shown with. To a model a handle is a result like any other. */
function shownFor({ id, name }: GroupCall, parts: readonly Part[]): readonly Part[] {
  const answer = parts[0]?.functionResponse
  if (!answer) return parts
  const { modelOutput } = answer
  if (answer.id === id && answer.name === name && answer.willContinue === undefined && modelOutput === undefined)
    return parts
  const { willContinue: _, modelOutput: __, ...response } = answer
  const functionResponse = { ...response, response: shownResponse(answer), id, name }
  return [{ functionResponse }, ...(hasHiddenMedia(answer) ? [] : parts.slice(1))]
}

/** Is the media after a response for the app only? */
function hasHiddenMedia({ modelOutput }: FunctionResponse): boolean {
  return isRecord(modelOutput) && !modelOutput.showsMedia
}

/** What a model sees of a response; a stored one may hold anything. */
export function shownResponse({ response, modelOutput }: FunctionResponse): JsonObject {
  return isRecord(modelOutput?.response) ? modelOutput.response : response
}

/** What another agent said and did, told to this one; undefined when it kept it to itself. */
function asContext(author: string, parts: readonly Part[], how: string): Content | undefined {
  const told: Part[] = [{ text: 'For context:' }]
  let hidesMedia = false
  for (const part of parts) {
    if (part.text) {
      if (!part.thought && !hidesMedia) told.push({ text: `[${author}] ${how}: ${part.text}` })
    } else if (part.functionCall) {
      const { name, args } = part.functionCall
      told.push({ text: `[${author}] called ${name} with ${JSON.stringify(args)}` })
    } else if (part.functionResponse) {
      const shown = JSON.stringify(shownResponse(part.functionResponse))
      hidesMedia = hasHiddenMedia(part.functionResponse)
      told.push({ text: `[${author}] got from ${part.functionResponse.name}: ${shown}` })
    } else {
      const code = codeAsText(part)
      if (code === undefined && hidesMedia) continue
      told.push(code === undefined ? part : { text: `[${author}] ran code:\n${code}` })
    }
  }
  return told.length > 1 ? { role: 'user', parts: told } : undefined
}

registerShape(() => new History('', { path: '' }))
