// What was said and done since the newest handle. The provider restores the conversation as it was when it made the handle, so that
// a resumed connection must be told the rest.
import { jsonSize } from '../../../core/base/json.ts'
import { type Content, type FunctionResponse, isHandle } from '../../../core/content/content.ts'
import type { LiveClientMessage, LiveToolCall } from '../../../engine/model/live-model.ts'
import { asText, toldMessage } from './seed.ts'

/** One thing that a model knows, or must be told. */
export type Told =
  /** Sent by this side. A handle covers it only if the model has shown that it has read it. */
  | { readonly type: 'sent'; readonly contents: readonly Content[] }
  | { readonly type: 'responded'; readonly response: FunctionResponse }
  /** Said or heard by the model, or called. Every later handle covers it. */
  | { readonly type: 'said'; readonly content: Content }
  | { readonly type: 'called'; readonly call: LiveToolCall }
  /** A call whose result the model no longer needs. */
  | { readonly type: 'given up'; readonly call: Pick<LiveToolCall, 'id'> }

/** An entry, its length as JSON, and when it was sent on the current connection. Undefined: the model knows it. */
type Entry = Told & { readonly length: number; readonly sentAt: number | undefined }

/** What a connection that resumes with the newest handle must be told. */
export interface SinceHandle {
  /** What the handle misses, in order. */
  readonly entries: readonly Entry[]
  /** When the model was told what came before the entries. Undefined: it knows it. No handle can be used before. */
  readonly toldAt: number | undefined
  /** Can the rest be told? `repeats`: it would make the model repeat itself. `overflows`: it is too long to be kept. */
  readonly rest: 'fits' | 'repeats' | 'overflows'
}

/** The conversation begins. The model knows nothing, and needs to know nothing. */
export const NOTHING_SINCE: SinceHandle = { entries: [], toldAt: undefined, rest: 'fits' }

/** Most entries and characters that are kept. With more, a new conversation starts from the log. */
const MAX_ENTRIES = 200
const MAX_CHARACTERS = 1_000_000

/** Adds what was sent, said or called. A response replaces an earlier one to the same call. */
export function addTold(since: SinceHandle, told: Told, at: number): SinceHandle {
  const sentAt = told.type === 'sent' || told.type === 'responded' ? at : undefined
  if (sentAt === undefined && since.rest !== 'fits') return since // only a later handle can be used, and it covers this
  const length = jsonSize(told, MAX_CHARACTERS)
  const entries: Entry[] = [...withoutEarlier(since.entries, told), { ...told, sentAt, length }]
  let characters = 0
  for (let index = 0; index < entries.length; index++) characters += (entries[index] as Entry).length
  if (entries.length <= MAX_ENTRIES && characters <= MAX_CHARACTERS) return { ...since, entries }
  return { entries: [], toldAt: at, rest: 'overflows' }
}

function withoutEarlier(entries: readonly Entry[], told: Told): readonly Entry[] {
  if (told.type !== 'responded') return entries
  const { id } = told.response
  const at = entries.findLastIndex((one) => one.type === 'responded' && one.response.id === id)
  return at < 0 ? entries : entries.toSpliced(at, 1)
}

/** The model no longer needs the results of these calls. */
export function giveUp(since: SinceHandle, ids: readonly string[]): SinceHandle {
  const entries = since.entries.map((one): Entry => {
    return one.type === 'called' && ids.includes(one.call.id) ? { ...one, type: 'given up' } : one
  })
  return { ...since, entries }
}

/** The model has read everything that was sent up to this time. */
export function readSent(since: SinceHandle, until: number): SinceHandle {
  const isRead = (sentAt: number | undefined): boolean => sentAt !== undefined && sentAt <= until
  const { rest, toldAt } = since
  let { entries } = since
  if (entries.some(({ sentAt }) => isRead(sentAt)))
    entries =
      rest === 'fits'
        ? entries.map((one) => (isRead(one.sentAt) ? { ...one, sentAt: undefined } : one))
        : entries.filter(({ sentAt }) => !isRead(sentAt)) // only a later handle can be used, and it covers them
  else if (!isRead(toldAt)) return since
  return { entries, toldAt: isRead(toldAt) ? undefined : toldAt, rest }
}

/** The model has ended a turn. Resending a response that it has replied to would make it repeat itself. */
export function endTurn(since: SinceHandle): SinceHandle {
  return since.rest === 'fits' && hasFinalById(since) ? { ...since, rest: 'repeats' } : since
}

/** Does a handle that arrives now miss only what is kept here? */
export function isCovering({ toldAt }: SinceHandle): boolean {
  return toldAt === undefined
}

/** A new handle has arrived. */
export function cover(since: SinceHandle): SinceHandle {
  if (!isCovering(since)) return since
  return { ...since, entries: since.entries.filter(({ sentAt }) => sentAt !== undefined), rest: 'fits' }
}

/**
 * Can a connection be told everything? Not if the handle covers a call whose response it misses, and the conversation has moved on
 * since: the model would reply to the response again.
 */
export function canResume(since: SinceHandle): boolean {
  return since.rest === 'fits' && !(hasFinalById(since) && hasMovedOn(since))
}

/** A resumed connection gets everything. All of it counts as sent and not read: the next handle may be made before the model reads it. */
export function resume(since: SinceHandle, at: number): SinceHandle {
  const told = hasMovedOn(since) ? asOneMessage(since, at) : since
  return { ...told, entries: told.entries.map((one) => ({ ...one, sentAt: at })) }
}

/** The rest of the conversation becomes one message, after responses that the model needs but does not reply to. */
function asOneMessage(since: SinceHandle, at: number): SinceHandle {
  const { entries } = since
  const responses = entries.filter((one) => one.type === 'responded' && !isForgotten(entries, one.response))
  const contents = entries.flatMap((one) => textsOf(entries, one))
  const left: SinceHandle = { ...since, entries: responses }
  return contents.length > 0 ? addTold(left, { type: 'sent', contents }, at) : left
}

/** What to send on a connection that was resumed. `isOwed`: the model must reply now. */
export function messagesFor(since: SinceHandle, isOwed: boolean): LiveClientMessage[] {
  const lastSent = since.entries.findLast(({ type }) => type === 'sent')
  const messages = since.entries.flatMap((one): LiveClientMessage[] => {
    if (one.type === 'responded') return [{ type: 'toolResponses', responses: [one.response] }]
    return one.type === 'sent' ? [toldMessage(one.contents, isOwed && one === lastSent)] : []
  })
  // the model knows the message, but its reply is lost
  if (isOwed && !lastSent && !hasFinalById(since)) messages.push(toldMessage([], true))
  return messages
}

/** Has anything but this side spoken since the handle? */
function hasMovedOn({ entries }: SinceHandle): boolean {
  return entries.some(({ type }) => type === 'said' || type === 'called' || type === 'given up')
}

/** Does the handle cover a call, but not the response that the model replies to? */
function hasFinalById({ entries }: SinceHandle): boolean {
  const forgotten = new Set<string | undefined>()
  for (const one of entries) if (one.type === 'called' || one.type === 'given up') forgotten.add(one.call.id)
  for (const one of entries) {
    if (one.type !== 'responded' || forgotten.has(one.response.id)) continue
    if (!isHandle(one.response) && one.response.scheduling !== 'SILENT') return true
  }
  return false
}

/** Does the handle miss the call itself? */
function isForgotten(entries: readonly Entry[], { id }: FunctionResponse): boolean {
  return entries.some((one) => (one.type === 'called' || one.type === 'given up') && one.call.id === id)
}

function textsOf(entries: readonly Entry[], one: Entry): readonly Content[] {
  switch (one.type) {
    case 'sent':
      return one.contents
    case 'said':
      return textOf(one.content)
    case 'called': {
      const { name, args } = one.call
      return textOf({ role: 'model', parts: [{ functionCall: { name, args } }] })
    }
    case 'responded': {
      const { response: functionResponse } = one
      return isForgotten(entries, functionResponse) ? textOf({ role: 'tool', parts: [{ functionResponse }] }) : []
    }
    default:
      return []
  }
}

function textOf(content: Content): Content[] {
  const text = asText(content)
  return text ? [text] : []
}
