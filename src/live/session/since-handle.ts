// What was said and done since the newest handle. The provider restores the conversation as it was when it made the handle, so that
// a resumed connection must be told the rest.
import { jsonSize } from '../../base/json.ts'
import type { Content, FunctionResponse } from '../../content/content.ts'
import type { LiveClientMessage, LiveToolCall } from '../../tool/live-model.ts'
import { asText, toldMessage } from './seed.ts'

type Fact =
  /** Sent by this side. A handle covers it only if the model has shown that it has read it. */
  | { readonly type: 'sent'; readonly contents: readonly Content[] }
  | { readonly type: 'response'; readonly response: FunctionResponse }
  /** Said or heard by the model, or called. Every later handle covers it. */
  | { readonly type: 'said'; readonly content: Content }
  | { readonly type: 'call'; readonly id: string; content: Content | undefined }

/** A fact, its length as JSON, and when it was sent on the current connection. Undefined: the model knows it. */
type Entry = Fact & { readonly length: number; sentAt: number | undefined }

/** Most entries and characters that are kept. With more, a new conversation starts from the log. */
const MAX_ENTRIES = 200
const MAX_CHARACTERS = 1_000_000

/** What a connection that resumes with the newest handle must be told. */
export class SinceHandle {
  readonly #now: () => number
  #entries: Entry[] = []
  /** When the model was told what came before the entries. Undefined: it knows it. No handle can be used before. */
  #toldAt: number | undefined
  /** The model spoke again after the response to a call that the handle covers. The same response would make it repeat that. */
  #isRepetition = false
  #isOverflown = false

  /** `now`: milliseconds on a clock that is never set. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** A new conversation starts. `isTold`: the model gets what was said before. */
  restart(isTold: boolean): void {
    this.#entries = []
    this.#toldAt = isTold ? this.#now() : undefined
    this.#isRepetition = false
    this.#isOverflown = false
  }

  /** Messages were sent. */
  sent(contents: readonly Content[]): void {
    this.#add({ type: 'sent', contents }, this.#now())
  }

  /** The user or the model said something. */
  said(content: Content): void {
    this.#add({ type: 'said', content })
  }

  /** The model called a tool. */
  called({ id, name, args }: LiveToolCall): void {
    this.#add({ type: 'call', id, content: { role: 'model', parts: [{ functionCall: { name, args } }] } })
  }

  /** The model no longer needs the results of these calls. */
  cancelled(ids: readonly string[]): void {
    for (const entry of this.#entries) if (entry.type === 'call' && ids.includes(entry.id)) entry.content = undefined
  }

  /** A response was sent. It replaces an earlier one to the same call. */
  responded(response: FunctionResponse): void {
    const isEarlier = (one: Entry): boolean => one.type === 'response' && one.response.id === response.id
    if (this.#entries.some(isEarlier)) this.#entries = this.#entries.filter((one) => !isEarlier(one))
    this.#add({ type: 'response', response }, this.#now())
  }

  /** The model has read everything that was sent up to this time. */
  read(until: number): void {
    for (const entry of this.#entries) if (entry.sentAt !== undefined && entry.sentAt <= until) entry.sentAt = undefined
    if (this.#toldAt !== undefined && this.#toldAt <= until) this.#toldAt = undefined
  }

  /** The model has ended a turn. */
  turnEnded(): void {
    if (this.#hasFinalById) this.#isRepetition = true
  }

  /** A new handle has arrived. Returns false if it may miss something that is not kept here. */
  cover(): boolean {
    if (this.#toldAt !== undefined) return false
    this.#entries = this.#entries.filter(({ sentAt }) => sentAt !== undefined)
    this.#isRepetition = false
    this.#isOverflown = false
    return true
  }

  /**
   * Can a connection be told everything? Not if the handle covers a call whose response it misses, and the conversation has moved on
   * since: the model would reply to the response again.
   */
  get canResume(): boolean {
    return !this.#isOverflown && !this.#isRepetition && !(this.#hasFinalById && this.#hasMovedOn)
  }

  /**
   * What to send on a connection that was resumed. `isOwed`: the model must reply now. From now on all of it counts as sent and not
   * read: the next handle may be made before the model gets it.
   */
  repeat(isOwed: boolean): LiveClientMessage[] {
    if (this.#hasMovedOn) this.#becomeSent()
    for (const entry of this.#entries) entry.sentAt = this.#now()
    const lastSent = this.#entries.findLast(({ type }) => type === 'sent')
    const messages = this.#entries.flatMap((entry): LiveClientMessage[] => {
      if (entry.type === 'response') return [{ type: 'toolResponses', responses: [entry.response] }]
      return entry.type === 'sent' ? [toldMessage(entry.contents, isOwed && entry === lastSent)] : []
    })
    // the model knows the message, but its reply is lost
    if (isOwed && !lastSent && !this.#hasFinalById) messages.push(toldMessage([], true))
    return messages
  }

  /** The rest of the conversation becomes one message, after responses that the model needs but does not reply to. */
  #becomeSent(): void {
    const responses = this.#entries.filter((one) => one.type === 'response' && !this.#isForgotten(one.response))
    const contents = this.#entries.flatMap((entry) => this.#tell(entry))
    this.#entries = responses
    if (contents.length > 0) this.sent(contents)
  }

  /** Has anything but this side spoken since the handle? */
  get #hasMovedOn(): boolean {
    return this.#entries.some(({ type }) => type === 'said' || type === 'call')
  }

  /** Does the handle cover a call, but not the response that the model replies to? */
  get #hasFinalById(): boolean {
    return this.#entries.some(
      (entry) =>
        entry.type === 'response' &&
        !entry.response.willContinue &&
        entry.response.scheduling !== 'SILENT' &&
        !this.#isForgotten(entry.response),
    )
  }

  #isForgotten({ id }: FunctionResponse): boolean {
    return this.#entries.some((entry) => entry.type === 'call' && entry.id === id)
  }

  #tell(entry: Entry): readonly Content[] {
    if (entry.type === 'sent') return entry.contents
    if (entry.type !== 'response') return toldContents(entry.content)
    const { response: functionResponse } = entry
    return this.#isForgotten(functionResponse) ? toldContents({ role: 'tool', parts: [{ functionResponse }] }) : []
  }

  #add(fact: Fact, sentAt?: number): void {
    const length = jsonSize(fact, MAX_CHARACTERS)
    this.#entries.push({ ...fact, sentAt, length })
    let characters = 0
    for (const entry of this.#entries) characters += entry.length
    if (this.#entries.length <= MAX_ENTRIES && characters <= MAX_CHARACTERS) return
    this.#entries = []
    this.#isOverflown = true
    this.#toldAt = this.#now()
  }
}

function toldContents(content: Content | undefined): Content[] {
  const told = content && asText(content)
  return told ? [told] : []
}
