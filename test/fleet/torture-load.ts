// Sessions that are never idle for long: one with nothing to do gets another message.
import { PAY } from '../crash/victim/models.ts'
import { approveAll, type FleetSession, keyOf, quietSessions, runnerOf, untilDone } from './finish-sessions.ts'
import type { FleetWorld } from './fleet-world.ts'

/** How much to do, and until when. */
export interface LoadOptions {
  /** How many sessions have work at the same time. */
  readonly concurrency: number
  readonly signal: AbortSignal
}

/** Keeps sessions busy in turn, and approves what they ask. Returns how many messages each has got. */
export async function keepBusy(
  world: FleetWorld,
  sessions: readonly FleetSession[],
  { concurrency, signal }: LoadOptions,
): Promise<ReadonlyMap<FleetSession, number>> {
  const messages = new Map<FleetSession, number>()
  const busy = new Set<FleetSession>()
  let next = 0
  while (!signal.aborted) {
    const quiet = await untilDone(() => quietSessions(world))
    for (const session of busy) if (quiet.has(keyOf(session))) busy.delete(session)
    for (let looked = 0; busy.size < concurrency && looked < sessions.length; looked++) {
      const session = sessions[next++ % sessions.length] as FleetSession // below the length
      if (busy.has(session)) continue
      busy.add(session)
      const count = (messages.get(session) ?? 0) + 1
      messages.set(session, count)
      const { userId, sessionId } = session
      const runner = runnerOf(world, session.shape)
      await untilDone(() => runner.submit({ userId, sessionId, message: PAY, id: `pay-${sessionId}-${count}` }))
    }
    await approveAll(world)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return messages
}
