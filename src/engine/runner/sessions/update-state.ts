import type { JsonObject } from '../../../core/base/json.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import type { RunFactory } from '../run/run-factory.ts'
import { settleClaimed } from '../run/settle-session.ts'
import { claimIfFree } from '../session/leases.ts'

/**
 * Changes the state of a session. The change goes through the inbox, so that it also reaches a session that another process
 * holds. Resolves when it is recorded; if another process holds the session, when it is posted.
 */
export async function updateState(
  key: SessionKey,
  stateDelta: JsonObject,
  factory: RunFactory,
  id: string = factory.services.ports.newId(),
): Promise<void> {
  const { sessionService, ports } = factory.services
  await sessionService.post(key, { id, postedAt: ports.now(), type: 'state', stateDelta })
  const holder = factory.running.of(key)[0]
  if (holder) {
    const isDrained = await holder.data.recorder.drainInbox().then(
      () => true,
      () => false, // the run is ending
    )
    if (isDrained && !holder.data.progress.isFinalizing) return
    await holder.finished
  }
  const free = await claimIfFree(sessionService, key)
  if (free?.lease) await settleClaimed(factory, free.lease)
}
