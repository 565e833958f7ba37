// Answers to a session that another run holds: they are posted to its inbox, and the caller follows that run.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Ports } from '../../../core/base/ports.ts'
import type { Content } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import type { InboxItem, Lease, PostedItem, SessionKey, SessionService } from '../../../services/session/service.ts'
import { acceptAnswers, eventsAfterAnswers } from '../approvals/accept.ts'
import type { ActiveRun } from '../run/active-run.ts'
import { claimIfFree } from '../session/leases.ts'
import { RunFollower } from './run-follower.ts'

/** Milliseconds between two attempts to claim the lease while a run in another process holds it. */
const RETRY_MS = 250

interface PostOptions {
  readonly sessionService: SessionService
  readonly ports: Ports
  /** The run of this runner that holds the session. */
  findHolder(): ActiveRun | undefined
  /** Throws when the caller no longer waits. */
  throwIfCancelled(): void
}

/** A session whose lease is claimed. The caller records the answers. */
export interface ClaimedSession {
  /** Distinguishes a claimed session from a followed run. */
  readonly type: 'claimed'
  /** Undefined = there is no such session. */
  readonly lease: Lease | undefined
  /** The inbox item that holds the answers, if they were posted: the caller's append removes it. */
  readonly drained: readonly string[] | undefined
  /** The last sequence number when the answers arrived. */
  readonly asOf: number
}

/** Answers for the inbox of a session. */
export interface PostedAnswers {
  /** The answers. */
  readonly message: Content
  /** State changes recorded together with them. */
  readonly stateDelta: JsonObject | undefined
  /** Whether they are the result of a background call, from its body. */
  readonly isResult?: boolean | undefined
}

/** Posts answers to a session with a holder and follows the run that records them, or claims the session once it is free. */
export async function postAndFollow(
  key: SessionKey,
  answers: PostedAnswers,
  options: PostOptions,
): Promise<ClaimedSession | { readonly type: 'followed'; readonly run: RunFollower }> {
  const { sessionService, ports } = options
  const item = itemOf(answers, ports)
  const asOf = await sessionService.post(key, item)
  const drained = [item.id]
  for (;;) {
    const holder = options.findHolder()
    const run = holder && (await followHolder(holder, { ...item, seq: asOf }, answers))
    if (run) return { type: 'followed', run }
    await waitForHolder(ports, holder)
    options.throwIfCancelled()
    const free = await claimIfFree(sessionService, key)
    if (free) return { type: 'claimed', lease: free.lease, drained, asOf }
  }
}

/** The inbox item of these answers. A client never posts a result: only results may end background calls. */
export function itemOf(
  { message, stateDelta, isResult }: PostedAnswers,
  ports: Pick<Ports, 'newId' | 'now'>,
): InboxItem {
  const posted = { id: ports.newId(), postedAt: ports.now() }
  const answer = message.parts[0]?.functionResponse
  const writes = stateDelta && { stateDelta }
  if (!isResult || !answer) return { ...posted, type: 'answer', content: message, ...writes }
  return { ...posted, type: 'result', callId: answer.id ?? '', response: answer.response, ...writes }
}

/** Waits until the holder finishes, for RETRY_MS at most, so that the caller can check for cancellation. */
function waitForHolder(ports: Ports, holder: ActiveRun | undefined): Promise<void> {
  return new Promise((resolve) => {
    const cancelTimer = ports.setTimer(resolve, RETRY_MS)
    void holder?.finished.then(() => {
      cancelTimer()
      resolve()
    })
  })
}

/** Undefined when the holder did not record the answers; throws if they are invalid. */
async function followHolder(
  holder: ActiveRun,
  item: PostedItem,
  { message, isResult = false }: PostedAnswers,
): Promise<RunFollower | undefined> {
  const { recorder, view, held, invocationId, progress, services, kind } = holder.data
  const isDrained = await recorder.drainInbox().then(
    () => true,
    () => false, // the holder is ending, or has lost its lease
  )
  if (!isDrained) return undefined
  const recorded = recorder.inbox().recorded(item.id)
  if (recorded) return follow(holder, eventsAfterAnswers(view.events, recorded, invocationId))
  if (progress.isFinalizing) return undefined
  const context = { now: services.ports.now(), asOf: item.seq, isResult }
  const accepted = await acceptAnswers(held, message, context)
  // the inbox takes answers of open invocations; a live session may last for hours after the invocation of these has ended
  return accepted.type === 'replay' && kind === 'live' ? follow(holder, accepted.events) : undefined
}

/** Follows a run that has the answers. A live session lasts: the caller has what it came for. */
function follow(holder: ActiveRun, before: readonly Event[]): RunFollower {
  const follower = new RunFollower(holder, before)
  if (holder.data.kind === 'live') follower.removeConsumer()
  return follower
}
