import { fts5 } from '../memory-index.ts'
import { type EncodedMemory, MemoryRows } from '../memory-rows.ts'
import { keyOf, type RowOwner } from '../session-row.ts'
import { query, type SqlRow, type SqlValue, type SqlWork } from '../sql.ts'
import type { CopyFact } from './copy-fact.ts'
import type { Databases } from './copy-keyed.ts'
import { valuesOf } from './table-pages.ts'

/** How many sessions are listed at once. */
const LISTED = 100
const OWNER = ['app', '"user"', 'session']
const FROM = `FROM toolwright_memories AS memories
  JOIN toolwright_memory_users AS users ON users.id = memories.owner`

/** What is remembered of one session, with its words: they are not split again. */
const OF_SESSION = query(
  `SELECT memories.body AS body, memories.length AS length, coalesce(found.words, '') AS words ${FROM}
   LEFT JOIN toolwright_memory_index AS found ON found.rowid = memories.id
   WHERE users.app = ? AND users."user" = ? AND memories.session = ? ORDER BY memories.id`,
)

/** What is remembered although its session does not exist. */
const OTHERS = query(
  `SELECT DISTINCT users.app AS app, users."user" AS "user", memories.session AS session ${FROM}
   WHERE (users.app, users."user", memories.session) > (?, ?, ?) AND NOT EXISTS (
     SELECT 1 FROM toolwright_sessions AS sessions
     WHERE sessions.app = users.app AND sessions."user" = users."user" AND sessions.session = memories.session)
   ORDER BY users.app, users."user", memories.session LIMIT ${LISTED}`,
)

/** Nothing is searched for, so that any index will do. */
const MEMORIES = new MemoryRows(fts5, () => {})

/** Copies what is remembered of sessions that do not exist. */
export async function* copyOtherMemories(databases: Databases): AsyncGenerator<CopyFact, void> {
  let after: readonly SqlValue[] | undefined = ['', '', '']
  while (after) {
    const owners: readonly SqlRow[] = await databases.from.readOne(OTHERS, ...after)
    for (const owner of owners) yield* copyMemories(databases, owner as unknown as RowOwner) // its columns were selected
    const last = owners.at(-1)
    after = last && valuesOf(last, OWNER)
  }
}

/** Copies what is remembered of a session: all of it, or nothing if the target remembers something else. */
export async function* copyMemories(
  { from, to }: Databases,
  owner: Omit<RowOwner, 'id'>,
): AsyncGenerator<CopyFact, void> {
  const { app, user, session } = owner
  const memories = (await from.readOne(OF_SESSION, app, user, session)).map(toMemory)
  if (memories.length === 0) return
  if (await to.write(() => addMemories(owner, memories))) {
    yield { type: 'copied', kind: 'memories', count: memories.length }
    return
  }
  const why = 'The target remembers something else of this session, which was not overwritten. Delete one of the two.'
  yield { type: 'skipped', what: `memories: app "${app}", user "${user}", session "${session}"`, why }
}

/** Adds memories, unless there are some. Returns whether the target now has these. */
function* addMemories(owner: Omit<RowOwner, 'id'>, memories: readonly EncodedMemory[]): SqlWork<boolean> {
  const { sessionId, ...user } = keyOf({ ...owner, id: 0 })
  const row = yield* MEMORIES.addUser(user)
  const stored = yield* MEMORIES.bodies(row, sessionId)
  if (stored.length === 0) yield* MEMORIES.add(row, sessionId, memories)
  else return stored.length === memories.length && stored.every(({ body }, at) => body === memories[at]?.body)
  return true
}

function toMemory({ body, words, length }: SqlRow): EncodedMemory {
  return { body: String(body), words: String(words), length: Number(length) }
}
