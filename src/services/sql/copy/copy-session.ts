import { systemPorts } from '../../../core/base/ports.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Lease } from '../../session/service.ts'
import { release } from '../lease-rules.ts'
import type { RowOwner } from '../session-row.ts'
import type { SessionTables } from '../session-tables.ts'
import { isSameSession } from './compare-session.ts'
import type { CopyFact } from './copy-fact.ts'
import { copyKeyed, type Databases, isRefused } from './copy-keyed.ts'
import { copyMemories } from './copy-memories.ts'
import { ARTIFACTS_OF_SESSION, SCHEDULES_OF_SESSION } from './keyed-tables.ts'
import { FIRST, type PiecePosition } from './session-sections.ts'
import type { SourceSession, SourceSessions } from './source-session.ts'
import { deleteDeadCopy, writePiece } from './target-sessions.ts'

/** Both databases, with the rules of their sessions. */
export interface Stores extends Databases {
  /** The sessions of the source. */
  readonly source: SourceSessions
  /** The tables of the target. */
  readonly target: SessionTables
}

/** How long to wait before looking again whether the other process that copies a session has ended. */
const LOOK_AGAIN_MS = 500

const OTHER_LOG =
  'The target has a session with this id and another log, which was not overwritten. Delete one of the two.'
const CROSSED = 'Another process has changed it in the target meanwhile. Copy again.'

/** Copies a session, unless it is in the target already. */
export async function* copySession(stores: Stores, owner: RowOwner): AsyncGenerator<CopyFact, void> {
  const what = `session "${owner.session}" of user "${owner.user}", app "${owner.app}"`
  const found = await stores.from.read(() => stores.source.find(owner.id))
  if (found.type === 'gone') return
  if (found.type === 'unusable') yield { type: 'skipped', what, why: found.why }
  else {
    try {
      yield* copyFound(stores, found.session, what)
    } catch (error) {
      const why = isRefused(error) ? error.message : isCrossed(error) ? CROSSED : undefined
      if (why === undefined) throw error
      yield { type: 'skipped', what, why }
    }
  }
}

async function* copyFound(stores: Stores, session: SourceSession, what: string): AsyncGenerator<CopyFact, void> {
  const { key, row } = session
  yield* waitForOtherCopy(stores, session, what)
  const target = await stores.to.read(() => stores.target.sessions.find(key))
  if (target && !(await isSameSession(stores, { source: row, target }))) {
    yield { type: 'skipped', what, why: OTHER_LOG }
    return
  }
  const owner = [row.app, row.user, row.session]
  yield* copyKeyed(stores, ARTIFACTS_OF_SESSION, { owner })
  yield* copyMemories(stores, row)
  const problem = target ? undefined : await writeSession(stores, session)
  if (problem !== undefined) {
    yield { type: 'skipped', what, why: problem }
    return
  }
  yield { type: 'copied', kind: 'sessions', count: 1 }
  yield* copyKeyed(stores, SCHEDULES_OF_SESSION, { owner }) // a worker starts them at once
}

/** Removes what an earlier copy has left. While that one may be alive, waits for its end. */
async function* waitForOtherCopy(
  { to, target }: Stores,
  { key }: SourceSession,
  what: string,
): AsyncGenerator<CopyFact, void> {
  let hasWaited = false
  while (await to.read(() => target.sessions.findCopy(key))) {
    if (await to.write(() => deleteDeadCopy(target, key))) return
    if (!hasWaited) yield { type: 'waiting', what }
    hasWaited = true
    await new Promise<void>((resolve) => systemPorts.setTimer(resolve, LOOK_AGAIN_MS))
  }
}

/** Writes a session piece by piece. Returns why that was not possible. */
async function writeSession({ from, to, source, target }: Stores, session: SourceSession): Promise<string | undefined> {
  let lease: Lease | undefined
  let next: PiecePosition | undefined = FIRST
  try {
    while (next) {
      const start: PiecePosition = next
      const held: Lease | undefined = lease
      const read = await from.read(() => source.piece(session, start))
      if (read.type === 'unusable') return read.why
      const { piece } = read
      lease = await to.write(() => {
        to.checkIdentity?.()
        return writePiece(target, { session, piece, lease: held })
      })
      next = piece.next
    }
    return undefined
  } finally {
    const unfinished = next && lease
    if (unfinished) await to.write(() => release(target, unfinished)).catch(() => {}) // it ends with its lease
  }
}

/** Whether another process has created the session, or removed the copy. */
function isCrossed(error: unknown): boolean {
  return error instanceof ToolwrightError && (error.code === 'LEASE_LOST' || error.code === 'ALREADY_EXISTS')
}
