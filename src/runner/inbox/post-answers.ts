// Answers to a session that another run holds: they are posted to its inbox, and the caller follows that run.
import type { JsonObject } from '../../base/json.ts'
import type { Ports } from '../../base/ports.ts'
import type { Content } from '../../content/content.ts'
import type { InboxItem, Lease, PostedItem, SessionKey, SessionService } from '../../session/service.ts'
import { acceptAnswers, followed } from '../approvals/accept.ts'
import { claimIfFree } from '../lease/claim-session.ts'
import type { ActiveRun } from '../run/active-run.ts'
import { FollowedRun } from './followed-run.ts'

/** How often to try the lease while a run in another process holds it. */
const RETRY_MS = 250

/** What claiming needs of the runner. */
export interface ClaimOptions {
  readonly sessionService: SessionService
  readonly ports: Ports
  /** The run of this runner that holds the session. */
  findHolder(key: SessionKey): ActiveRun | undefined
  /** Throws when the caller no longer waits. */
  throwIfCancelled(): void
}

/** The lease is claimed; the caller records the answers. */
export interface ClaimedSession {
  readonly type: 'claimed'
  readonly lease: Lease | undefined
  /** The inbox item that holds the answers, if they were posted: the caller's append removes it. */
  readonly drained: readonly string[] | undefined
  /** The last sequence number when the answers arrived. */
  readonly asOf: number
}

/** Claims a free session; else posts the answers and follows the run that records them. */
export async function claimOrFollow(
  key: SessionKey,
  { message, stateDelta }: { readonly message: Content; readonly stateDelta: JsonObject | undefined },
  options: ClaimOptions,
): Promise<ClaimedSession | { readonly type: 'followed'; readonly run: FollowedRun }> {
  const { sessionService, ports } = options
  const item: InboxItem = { id: ports.newId(), type: 'answer', content: message, ...(stateDelta && { stateDelta }) }
  let drained: readonly string[] | undefined
  let asOf = Number.POSITIVE_INFINITY // a free session has no requests newer than the answers
  for (;;) {
    options.throwIfCancelled()
    const free = await claimIfFree(sessionService, key)
    if (free) return { type: 'claimed', lease: free.lease, drained, asOf }
    if (!drained) asOf = await sessionService.post(key, item)
    drained = [item.id]
    const holder = options.findHolder(key)
    const run = holder && (await followHolder(holder, { ...item, seq: asOf }, message))
    if (run) return { type: 'followed', run }
    await waitForHolder(ports, holder)
  }
}

/** Until the holder is finished, or for a moment: the caller may be cancelled meanwhile. */
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
async function followHolder(holder: ActiveRun, item: PostedItem, message: Content): Promise<FollowedRun | undefined> {
  const { recorder, view, entries, invocationId, progress, services } = holder.data
  const isDrained = await recorder.drainInbox().then(
    () => true,
    () => false, // the holder is ending, or has lost its lease
  )
  if (!isDrained) return undefined
  const recorded = recorder.inbox().recorded(item.id)
  if (recorded) return new FollowedRun(holder, followed(view.events, recorded, invocationId))
  if (!progress.isFinalizing) {
    await acceptAnswers({ view, entries }, message, { now: services.ports.now(), asOf: item.seq })
  }
  return undefined
}
