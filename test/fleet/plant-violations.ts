// Breaks the rows and the ledger of a fleet in ways that its auditor must find. No worker may run.
import pg from 'pg'
import { schemaOf, withoutSchema } from '../crash/open-store.ts'
import { auditAll, type FleetSession } from './finish-sessions.ts'
import { appOf } from './fleet-desk.ts'
import type { FleetWorld } from './fleet-world.ts'

/** Plants one violation after another, each in a session of its own. Returns what the auditor finds in each of these sessions. */
export async function plantViolations(
  world: FleetWorld,
  sessions: readonly FleetSession[],
): Promise<{ readonly [violation: string]: readonly string[] }> {
  const client = new pg.Client({ connectionString: withoutSchema(world.store) })
  await client.connect()
  try {
    await client.query(`SET search_path TO "${schemaOf(world.store)}"`)
    const found: { [violation: string]: readonly string[] } = {}
    for (const [at, [violation, plant]] of Object.entries(plants).entries()) {
      const session = sessions.filter(({ shape }) => shape === 'single')[at]
      if (!session) throw new Error(`There is no session for "${violation}".`)
      await plant({ client, world, session })
      found[violation] = await auditAll(world, [session])
    }
    return found
  } finally {
    await client.end()
  }
}

interface Target {
  readonly client: pg.Client
  readonly world: FleetWorld
  readonly session: FleetSession
}

const ENTRIES = `FROM toolwright_entries WHERE session = (SELECT id FROM toolwright_sessions WHERE app = $1 AND session = $2)`

const plants: { readonly [violation: string]: (target: Target) => Promise<unknown> } = {
  'a lost entry': ({ client, session }) => client.query(`DELETE ${ENTRIES} AND seq = 2`, keyOf(session)),
  'a lost message': ({ client, session }) =>
    client.query(
      `UPDATE toolwright_entries SET body = replace(body, 'Pay.', 'Pa.') WHERE (session, seq) IN (SELECT session, seq ${ENTRIES})`,
      keyOf(session),
    ),
  'an orphaned item': ({ client, session }) =>
    client.query(
      `INSERT INTO toolwright_inbox (session, item_id, body)
       SELECT id, 'planted', '{}' FROM toolwright_sessions WHERE app = $1 AND session = $2`,
      keyOf(session),
    ),
  'a second body': ({ world, session }) => repeatLine(world, session, 'body'),
  'a second effect': ({ world, session }) => repeatLine(world, session, 'effect'),
}

function keyOf({ shape, sessionId }: FleetSession): [app: string, session: string] {
  return [appOf(shape), sessionId]
}

/** Tells the ledger twice more that the call of the session has run, or has taken effect. */
async function repeatLine(
  { ledger, notes }: FleetWorld,
  session: FleetSession,
  type: 'body' | 'effect',
): Promise<void> {
  const [app, sessionId] = keyOf(session)
  const own = ledger.lines().filter((line) => line.app === app && line.sessionId === sessionId)
  const [call] = own.flatMap((line) => (line.type === 'body' ? line : []))
  if (!call) throw new Error(`Session "${sessionId}" has run no body.`)
  for (let times = 0; times < 2; times++) await notes.write({ ...call, type })
}
