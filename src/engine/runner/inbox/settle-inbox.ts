// Inbox items that were posted while no run held the session, or whose holder died. Settled before a run starts.
import { isRecord } from '../../../core/base/json.ts'
import type { Ports } from '../../../core/base/ports.ts'
import { createEvent, type Event } from '../../../core/event/event.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { InboxItem, PostedItem } from '../../../services/session/service.ts'
import type { Logger } from '../../dispatch/host.ts'
import type { RunRequest } from '../run/run-request.ts'
import type { HeldSession } from '../session/held-session.ts'
import { attemptRecord, type PostedAttempt } from './posted-attempts.ts'

/** A posted message, as the request of its run. */
export interface PostedMessage {
  /** The request. */
  readonly request: RunRequest
  /** The inbox item, which the first append of the run removes. */
  readonly drained: readonly string[]
}

interface Settling {
  readonly ports: Ports
  readonly logger: Pick<Logger, 'warn'>
  /** Ends these invocations and removes the inbox items. */
  cancelAll(invocationIds: readonly string[], drained: readonly string[]): Promise<Event[]>
}

const NONE: readonly Event[] = []

/**
 * Applies state edits and cancels; returns the events of cancelled invocations. Answers stay for the run that continues their
 * invocation. Progress has no consumer here. An answer to no recorded request is removed: it must not answer a request that is made later.
 */
export async function settleInbox(
  held: HeldSession,
  items: readonly PostedItem[],
  settling: Settling,
): Promise<readonly Event[]> {
  for (const item of items) {
    if (item.type === 'state') await editState(held, item, settling)
    else if (item.type === 'attempt') await recordAttempt(held, item, items)
  }
  const isOver = (item: PostedItem): boolean => item.type === 'progress' || (isAnswer(item) && !isKnown(held, item))
  const over = items.filter(isOver)
  if (over.length) {
    const drained = over.map(({ id }) => id)
    await held.append([], drained)
  }
  // its client was told that it is accepted: another one came at the same moment
  if (over.some(({ type }) => type === 'answer')) settling.logger.warn(refusedLate(held))
  const cancels = items.filter((item) => item.type === 'cancel')
  return cancels.length ? await cancel(held, cancels, settling) : NONE
}

function refusedLate({ key }: HeldSession): string {
  return `An answer posted to session "${key.sessionId}" was refused: its request has another answer, or is over.`
}

/** Lets a worker run the body of a background call, unless that is no longer wanted. */
async function recordAttempt(held: HeldSession, item: PostedAttempt, items: readonly PostedItem[]): Promise<void> {
  const record = attemptRecord(held.view, item, items)
  await held.append(record ? [{ record }] : [], [item.id])
}

/** The background calls whose results wait in the inbox. */
export async function postedResults(held: HeldSession): Promise<ReadonlySet<string>> {
  const items = await held.inbox()
  return new Set(items.flatMap((item) => (item.type === 'result' ? [item.callId] : [])))
}

/** The invocation that the first posted answer continues. Undefined if none does. */
export function findAnswered({ view }: HeldSession, items: readonly PostedItem[]): string | undefined {
  const folds = view.open().map(({ fold }) => fold)
  for (const item of items) {
    if (!isAnswer(item)) continue
    const [first = ''] = idsIn(item)
    const fold = folds.find((one) => wasPending(one, first, item.seq))
    if (fold) return fold.invocationId
  }
  return undefined
}

/** The first message in the inbox. Undefined if there is none, or if the request asks for something else. */
export function findMessage(request: RunRequest, items: readonly PostedItem[]): PostedMessage | undefined {
  if (request.message || request.live || request.invocationId) return undefined
  const item = items.find(({ type }) => type === 'message')
  if (item?.type !== 'message') return undefined
  const { id, invocationId, content: message, stateDelta } = item
  return { request: { ...request, needsWork: false, invocationId, message, stateDelta }, drained: [id] }
}

type AnswerItem = PostedItem & { type: 'answer' | 'result' }

function isAnswer(item: PostedItem): item is AnswerItem {
  return item.type === 'answer' || item.type === 'result'
}

/** Was every request that the item answers recorded before the item was posted? */
function isKnown({ view }: HeldSession, item: AnswerItem): boolean {
  const folds = view.open().map(({ fold }) => fold)
  return idsIn(item).every((id) => folds.some((fold) => wasPending(fold, id, item.seq)))
}

function wasPending(fold: Fold, id: string, asOf: number): boolean {
  const call = fold.calls.get(id)
  if (call?.pending) return call.pendingSince <= asOf
  const request = fold.request(id) ?? call?.requests[0]
  return request !== undefined && request.seq <= asOf
}

/** The ids an item answers. A client wrote the content, so it may have any shape. */
function idsIn(item: AnswerItem): string[] {
  if (item.type === 'result') return [String(item.callId)]
  const parts: unknown = isRecord(item.content) ? item.content.parts : undefined
  if (!Array.isArray(parts) || parts.length === 0) return ['']
  return parts.map((part) => String(part?.functionResponse?.id ?? ''))
}

/** Ends the open invocations that a cancel names. A cancel for a finished run does not end the next one. */
async function cancel(
  held: HeldSession,
  cancels: readonly (InboxItem & { type: 'cancel' })[],
  settling: Settling,
): Promise<readonly Event[]> {
  const open = held.view.open().map(({ fold }) => fold.invocationId)
  const isNamed = (invocationId: string): boolean =>
    cancels.some((item) => item.invocationId === undefined || item.invocationId === invocationId)
  const drained = cancels.map(({ id }) => id)
  const ended = open.filter(isNamed)
  if (ended.length) return await settling.cancelAll(ended, drained)
  await held.append([], drained)
  return NONE
}

async function editState(
  held: HeldSession,
  { id, stateDelta }: InboxItem & { type: 'state' },
  { ports }: Settling,
): Promise<void> {
  if (!isRecord(stateDelta)) return await held.append([], [id])
  const invocationId = `e-${ports.newId()}`
  const timestamp = ports.now() / 1000
  const event = createEvent({ id: ports.newId(), invocationId, author: 'user', timestamp, actions: { stateDelta } })
  await held.append([{ event }], [id])
}
