// A web server that sends messages to sessions, approves what is asked, and waits until all work is done.
import { approve, type Runner } from 'toolwright'
import { audit } from '../crash/audit/audit.ts'
import { openRawStore } from '../crash/rows/open-raw-store.ts'
import { PAY } from '../crash/victim/models.ts'
import { appOf, type FleetShape, fleetShapes } from './fleet-desk.ts'
import type { FleetWorld } from './fleet-world.ts'

/** A session of the fleet. */
export interface FleetSession {
  readonly shape: FleetShape
  readonly userId: string
  readonly sessionId: string
}

/** Sessions of all shapes, for ten users. */
export function manySessions(count: number): FleetSession[] {
  return Array.from({ length: count }, (_, at) => ({
    shape: fleetShapes[at % fleetShapes.length] as FleetShape, // the rest is below the length
    userId: `user-${at % 10}`,
    sessionId: `session-${at}`,
  }))
}

/** Stores a message to pay in each session. The store may be away for a moment. */
export async function submitAll(world: FleetWorld, sessions: readonly FleetSession[]): Promise<void> {
  for (const { shape, userId, sessionId } of sessions) {
    const runner = runnerOf(world, shape)
    await untilDone(() => runner.submit({ userId, sessionId, message: PAY, id: `pay-${sessionId}` }))
  }
}

/** Approves what is asked, until every session has its answer. Returns the sessions that have none in time. */
export async function finishAll(
  world: FleetWorld,
  sessions: readonly FleetSession[],
  timeoutMs: number,
): Promise<readonly FleetSession[]> {
  const until = performance.now() + timeoutMs
  let left = sessions
  while (left.length > 0 && performance.now() < until) {
    await approveAll(world)
    const isDone = await Promise.all(left.map((session) => isOver(world, session)))
    left = left.filter((_, at) => !isDone[at])
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return left
}

/** Approves all pending confirmations, once each. */
export async function approveAll(world: FleetWorld): Promise<void> {
  for (const runner of world.web.values()) {
    const pending = await runner.pending({ kind: 'confirmation' }).catch(() => [])
    for (const request of pending) {
      const { userId, sessionId } = request
      await world.notes.write({ type: 'answered', requestId: request.id, app: runner.appName, sessionId })
      await runner.answer({ userId, sessionId, message: [approve(request)] }).catch(() => {}) // asked again in the next round
    }
  }
}

/** Has the model said "done", and is no request pending? */
async function isOver(world: FleetWorld, { shape, userId, sessionId }: FleetSession): Promise<boolean> {
  const { sessionService } = runnerOf(world, shape)
  const key = { appName: appOf(shape), userId, sessionId }
  const session = await sessionService.getSession({ ...key, config: { numRecentEvents: 1 } }).catch(() => undefined)
  if (session?.events[0]?.content?.parts[0]?.text !== 'done') return false
  // a background call of the session continues its invocation once more
  return await sessionService.pending(key).then(
    (pending) => pending.length === 0,
    () => false,
  )
}

/** What is wrong in the database and the world outside, one line for each violation. */
export async function auditAll(world: FleetWorld, sessions: readonly FleetSession[]): Promise<readonly string[]> {
  const raw = await openRawStore(world.store)
  try {
    const lines = world.ledger.lines()
    const violations: string[] = []
    for (const { shape, sessionId } of sessions) {
      const app = appOf(shape)
      const own = lines.filter((line) => line.app === app && line.sessionId === sessionId)
      const rows = await raw.rows(app, sessionId)
      const asked = rows.entries.filter(({ body }) => JSON.stringify(body).includes(`"text":"${PAY}"`)).length
      if (asked !== (shape === 'nested' ? 2 : 1))
        violations.push(`${sessionId} (${shape}): its message is there ${asked} times.`)
      violations.push(...audit({ rows, lines: own }).map((violation) => `${sessionId} (${shape}): ${violation}`))
    }
    return violations
  } finally {
    await raw.close()
  }
}

function runnerOf(world: FleetWorld, shape: FleetShape): Runner {
  return world.web.get(shape) as Runner // one for each shape
}

/** Repeats what fails while the database is away. */
export async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 100; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
