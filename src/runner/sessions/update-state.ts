import type { JsonObject } from '../../base/json.ts'
import type { SessionKey } from '../../session/service.ts'
import { claimIfFree } from '../lease.ts'
import type { RunStarter } from '../run/run-starter.ts'

/**
 * Changes the state of a session. The change goes through the inbox, so that it also reaches a session that another process
 * holds. Resolves when it is recorded; if another process holds the session, when it is posted.
 */
export async function updateState(
  key: SessionKey,
  stateDelta: JsonObject,
  starter: RunStarter,
  id: string = starter.services.ports.newId(),
): Promise<void> {
  const { sessionService } = starter.services
  await sessionService.post(key, { id, type: 'state', stateDelta })
  const holder = starter.running.of(key)[0]
  if (holder) {
    const isDrained = await holder.data.recorder.drainInbox().then(
      () => true,
      () => false, // the run is ending
    )
    if (isDrained && !holder.data.progress.isFinalizing) return
    await holder.finished
  }
  const free = await claimIfFree(sessionService, key)
  if (free?.lease) await starter.withHeld(free.lease, (held) => starter.settleHeld(held))
}
