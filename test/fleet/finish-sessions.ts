// A web server that sends messages to sessions, approves what is asked, and waits until all work is done.
import pg from 'pg'
import { approve, type Runner } from 'toolwright'
import { audit } from '../crash/audit/audit.ts'
import { schemaOf, withoutSchema } from '../crash/open-store.ts'
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

/** Sessions of these shapes, for ten users. */
export function manySessions(count: number, shapes: readonly FleetShape[] = fleetShapes): FleetSession[] {
  return Array.from({ length: count }, (_, at) => ({
    shape: shapes[at % shapes.length] as FleetShape, // the rest is below the length
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

/** Approves what is asked, until nothing is left to do in any session. Returns the sessions with work that is left in time. */
export async function finishAll(
  world: FleetWorld,
  sessions: readonly FleetSession[],
  timeoutMs: number,
): Promise<readonly FleetSession[]> {
  const until = performance.now() + timeoutMs
  let left = sessions
  while (left.length > 0 && performance.now() < until) {
    await approveAll(world)
    const quiet = await untilDone(() => quietSessions(world))
    left = left.filter((session) => !quiet.has(keyOf(session)))
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

/** The sessions with nothing to do: no holder, no item in the inbox, no pending request. Read without the product. */
export async function quietSessions({ store }: FleetWorld): Promise<ReadonlySet<string>> {
  const client = new pg.Client({ connectionString: withoutSchema(store) })
  try {
    await client.connect()
    await client.query(`SET search_path TO "${schemaOf(store)}"`)
    const { rows } = await client.query<{ app: string; session: string }>(
      `SELECT app, session FROM toolwright_sessions AS one WHERE epoch = 0
         AND NOT EXISTS (SELECT 1 FROM toolwright_inbox WHERE session = one.id AND body IS NOT NULL)
         AND NOT EXISTS (SELECT 1 FROM toolwright_pending WHERE session = one.id)`,
    )
    return new Set(rows.map(({ app, session }) => `${app} ${session}`))
  } finally {
    await client.end()
  }
}

/** The name of a session in lists and messages. */
export function keyOf({ shape, sessionId }: FleetSession): string {
  return `${appOf(shape)} ${sessionId}`
}

/** What is wrong in the database and the world outside, one line for each violation. `messages`: how many each session got. */
export async function auditAll(
  world: FleetWorld,
  sessions: readonly FleetSession[],
  messages: ReadonlyMap<FleetSession, number> = new Map(),
): Promise<readonly string[]> {
  const raw = await openRawStore(world.store)
  try {
    const lines = world.ledger.lines()
    const violations: string[] = []
    for (const session of sessions) {
      const { shape, sessionId } = session
      const app = appOf(shape)
      const own = lines.filter((line) => line.app === app && line.sessionId === sessionId)
      const rows = await raw.rows(app, sessionId)
      const asked = rows.entries.filter(({ body }) => JSON.stringify(body).includes(`"text":"${PAY}"`)).length
      const expected = (messages.get(session) ?? 1) * (shape === 'nested' ? 2 : 1) // an agent tool is asked, too
      if (asked !== expected) violations.push(`${sessionId} (${shape}): its message is there ${asked} times.`)
      violations.push(...audit({ rows, lines: own }).map((violation) => `${sessionId} (${shape}): ${violation}`))
    }
    return violations
  } finally {
    await raw.close()
  }
}

/** The runner of the web server for a shape. */
export function runnerOf(world: FleetWorld, shape: FleetShape): Runner {
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
