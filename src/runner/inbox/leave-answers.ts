// Answers to a session that somebody holds: left for the holder, who is followed; or given by us when we come to hold it.
import type { JsonObject } from '../../base/json.ts'
import type { Ports } from '../../base/ports.ts'
import type { Content } from '../../content/content.ts'
import type { InboxItem, Lease, PostedItem, SessionKey, SessionService } from '../../session/service.ts'
import { followed } from '../approvals/accept.ts'
import type { ActiveRun } from '../run/active-run.ts'
import { FollowedRun } from './followed-run.ts'
import { claimIfFree } from '../lease/hold.ts'

/** How often one looks whether a holder in another process is done. */
const LOOK_MS = 250

interface Leaving {
  readonly sessionService: SessionService
  readonly ports: Ports
  /** The run of this runner that holds the session. */
  holderOf(key: SessionKey): ActiveRun | undefined
  /** Throws when there is no use in waiting any longer. */
  check(): void
}

/** The session is ours. */
interface Claimed {
  readonly type: 'claimed'
  readonly lease: Lease | undefined
  /** The inbox item that holds the answers, when they were posted: this run takes them in. */
  readonly drained: readonly string[] | undefined
  /** The last sequence number when the answers arrived. */
  readonly asOf: number
}

export async function claimOrFollow(
  key: SessionKey,
  { message, stateDelta }: { readonly message: Content; readonly stateDelta: JsonObject | undefined },
  leaving: Leaving,
): Promise<Claimed | { readonly type: 'followed'; readonly run: FollowedRun }> {
  const { sessionService, ports } = leaving
  const item: InboxItem = { id: ports.newId(), type: 'answer', content: message, ...(stateDelta && { stateDelta }) }
  let drained: readonly string[] | undefined
  let asOf = Number.POSITIVE_INFINITY // a session that is free is judged as it is
  for (;;) {
    leaving.check()
    const free = await claimIfFree(sessionService, key)
    if (free) return { type: 'claimed', lease: free.lease, drained, asOf }
    if (!drained) asOf = await sessionService.post(key, item)
    drained = [item.id]
    const holder = leaving.holderOf(key)
    const run = holder && (await follow(holder, { ...item, seq: asOf }, message))
    if (run) return { type: 'followed', run }
    await inAWhile(ports, holder)
  }
}

/** When the holder is done, or after a while: somebody may want to wait no longer. */
function inAWhile(ports: Ports, holder: ActiveRun | undefined): Promise<void> {
  return new Promise((resolve) => {
    const forget = ports.setTimer(resolve, LOOK_MS)
    void holder?.finished.then(() => {
      forget()
      resolve()
    })
  })
}

/** When the holder has taken the answers in; throws what it refuses them with. */
async function follow(holder: ActiveRun, item: PostedItem, message: Content): Promise<FollowedRun | undefined> {
  const hasHeard = await holder.hear().then(
    () => true,
    () => false, // it is on its way to its end, or has lost the session without knowing
  )
  if (!hasHeard) return undefined
  const taken = holder.taken(item.id)
  if (taken) return new FollowedRun(holder, followed(holder.view.events, taken, holder.invocationId))
  if (!holder.isResting) await holder.refuse(message, item.seq)
  return undefined
}
