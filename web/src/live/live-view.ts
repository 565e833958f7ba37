// What the page knows about a live session, made from its events.
import { type FunctionCall, type FunctionResponse, isHandle } from '../../../src/core/content/content.ts'
import type { PendingRequest } from '../../../src/core/event/pending-request.ts'
import type { LiveEvent } from '../../../src/engine/model/live-event.ts'

/** An event as the server writes it: sound is base64. */
export type LiveFrame =
  | Exclude<LiveEvent, { readonly type: 'audio' }>
  | { readonly type: 'audio'; readonly data: string; readonly mimeType: string }

/** What was said, called or happened. */
export type LiveItem = SpeechItem | CallItem | { readonly type: 'note'; readonly id: number; readonly text: string }

/** What one side said. */
export interface SpeechItem {
  /** Discriminates items. */
  readonly type: 'speech'
  /** Names the item in its session. */
  readonly id: number
  /** Who said it. */
  readonly speaker: 'user' | 'model'
  /** What was said so far. */
  readonly text: string
  /** Does nothing follow? */
  readonly isFinished: boolean
  /** Is it the model's thinking? */
  readonly isThought: boolean
}

/** A tool call. */
export interface CallItem {
  /** Discriminates items. */
  readonly type: 'call'
  /** Names the item in its session. */
  readonly id: number
  /** The call. */
  readonly call: FunctionCall
  /** How it is doing. */
  readonly status: 'running' | 'done' | 'failed' | 'cancelled'
  /** Its latest progress. */
  readonly progress?: unknown
  /** Its response. */
  readonly response?: FunctionResponse
  /** Seconds since the epoch. */
  readonly startedAt: number
  /** Seconds since the epoch. */
  readonly endedAt?: number
}

/** A watcher or a pattern that ran its code. */
export interface HookItem {
  /** Which of both. */
  readonly hook: 'watcher' | 'pattern'
  /** The key of the watcher, or the name of the pattern. */
  readonly name: string
  /** How often it ran. */
  readonly count: number
  /** When it ran last, in seconds since the epoch. */
  readonly at: number
}

/** What is known about a live session. */
export interface LiveView {
  /** How the connection is. */
  readonly status: 'idle' | 'connecting' | 'open' | 'reconnecting' | 'closed'
  /** The latest items, in order. */
  readonly items: readonly LiveItem[]
  /** The phases that the session was in; the last is the current one. */
  readonly phases: readonly string[]
  /** The watchers and patterns that ran, the latest first. */
  readonly hooks: readonly HookItem[]
  /** The open requests. */
  readonly requests: readonly PendingRequest[]
  /** Why the session failed or ended. */
  readonly problem?: string | undefined
}

/** A session that is not connected. */
export const IDLE: LiveView = { status: 'idle', items: [], phases: [], hooks: [], requests: [] }

/** Items that are kept. The chat has everything that was recorded. */
const MOST_ITEMS = 400
const MOST_PHASES = 100
const MOST_HOOKS = 20

/** Adds an event. `now` is in seconds since the epoch. */
export function withFrame(view: LiveView, frame: LiveFrame, now: number): LiveView {
  switch (frame.type) {
    case 'text':
      return say(view, { speaker: 'model', text: frame.text, isThought: frame.thought === true })
    case 'inputTranscript':
      return say(view, { speaker: 'user', text: frame.text, isWhole: frame.finished })
    case 'outputTranscript':
      return say(view, { speaker: 'model', text: frame.text, isWhole: frame.finished })
    case 'toolCall':
      return add(
        view,
        ...frame.calls.map((call) => ({ type: 'call' as const, call, status: 'running' as const, startedAt: now })),
      )
    case 'toolProgress':
      return changeCall(view, frame.id, { progress: frame.value })
    case 'toolResponse':
      return frame.responses.reduce((next, response) => respond(next, response, now), view)
    case 'toolCancelled':
      return frame.ids.reduce((next, id) => changeCall(next, id, { status: 'cancelled', endedAt: now }), view)
    case 'request':
      return { ...view, requests: [...view.requests.filter(({ id }) => id !== frame.request.id), frame.request] }
    case 'phase':
      return {
        ...view,
        phases: [...(view.phases.length > 0 ? view.phases : firstPhase(frame)), frame.to].slice(-MOST_PHASES),
      }
    case 'hook':
      return { ...view, hooks: withHook(view.hooks, frame, now) }
    case 'transfer':
      return add(view, { type: 'note', text: `Transfer to ${frame.to}` })
    case 'interrupted':
      return add(finish(view, 'model'), { type: 'note', text: 'Interrupted' })
    case 'turnComplete':
      return finish(finish(view, 'model'), 'user')
    case 'reconnecting':
      return { ...view, status: 'reconnecting' }
    case 'resumed':
      return { ...view, status: 'open' }
    case 'error':
      return { ...view, problem: `${frame.errorCode}: ${frame.message}` }
    case 'closed':
      return { ...finish(view, 'model'), status: 'closed', requests: [] }
    default:
      return view
  }
}

function withHook(
  hooks: readonly HookItem[],
  { hook, name }: Pick<HookItem, 'hook' | 'name'>,
  at: number,
): readonly HookItem[] {
  const isSame = (one: HookItem): boolean => one.hook === hook && one.name === name
  const count = (hooks.find(isSame)?.count ?? 0) + 1
  return [{ hook, name, count, at }, ...hooks.filter((one) => !isSame(one))].slice(0, MOST_HOOKS)
}

/** The connection to the server broke: what was said stays. */
export function withBreak(view: LiveView): LiveView {
  if (view.status === 'reconnecting') return view
  const said = finish(finish(view, 'model'), 'user')
  return {
    ...add(said, { type: 'note', text: 'The connection broke. What is said now is not heard.' }),
    status: 'reconnecting',
  }
}

/** The page is connected, perhaps again. */
export function withOpen(view: LiveView): LiveView {
  const next = view.status === 'reconnecting' ? add(view, { type: 'note', text: 'Connected again' }) : view
  return { ...next, status: 'open', problem: undefined }
}

/** The session does not report the phase it starts in. */
function firstPhase({ from }: { readonly from?: string }): readonly string[] {
  return from === undefined ? [] : [from]
}

/** Adds what the user typed. */
export function withTyped(view: LiveView, text: string): LiveView {
  return add(finish(view, 'user'), { type: 'speech', speaker: 'user', text, isFinished: true, isThought: false })
}

interface Said {
  readonly speaker: 'user' | 'model'
  readonly text: string
  /** Is it the whole text of the turn, instead of the next piece? */
  readonly isWhole?: boolean | undefined
  readonly isThought?: boolean
}

function say(view: LiveView, { speaker, text, isWhole = false, isThought = false }: Said): LiveView {
  const at = view.items.findLastIndex((item) => item.type === 'speech' && item.speaker === speaker && !item.isFinished)
  const open = view.items[at]
  if (open?.type === 'speech' && open.isThought === isThought) {
    const next = { ...open, text: isWhole ? text : open.text + text, isFinished: isWhole }
    return { ...view, items: view.items.with(at, next) }
  }
  if (text === '') return view
  return add(view, { type: 'speech', speaker, text, isFinished: isWhole, isThought })
}

function finish(view: LiveView, speaker: 'user' | 'model'): LiveView {
  const items = view.items.map((item) =>
    item.type === 'speech' && item.speaker === speaker && !item.isFinished ? { ...item, isFinished: true } : item,
  )
  return { ...view, items }
}

function respond(view: LiveView, response: FunctionResponse, now: number): LiveView {
  const id = response.id ?? ''
  if (isHandle(response)) return changeCall(view, id, { response })
  const status = typeof response.response.error === 'string' ? 'failed' : 'done'
  const requests = view.requests.filter(({ functionCallId }) => functionCallId !== id)
  return { ...changeCall(view, id, { response, status, endedAt: now }), requests }
}

function changeCall(view: LiveView, id: string, change: Partial<CallItem>): LiveView {
  const at = view.items.findLastIndex((item) => item.type === 'call' && item.call.id === id)
  const item = view.items[at]
  return item?.type === 'call' ? { ...view, items: view.items.with(at, { ...item, ...change }) } : view
}

type NewItem = LiveItem extends infer Item ? (Item extends LiveItem ? Omit<Item, 'id'> : never) : never

function add(view: LiveView, ...items: readonly NewItem[]): LiveView {
  let id = view.items.at(-1)?.id ?? 0
  const added = items.map((item) => ({ ...item, id: ++id }) as LiveItem) // `NewItem` is an item without its id
  return { ...view, items: [...view.items, ...added].slice(-MOST_ITEMS) }
}
