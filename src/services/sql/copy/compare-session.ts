import type { SessionRow } from '../session-row.ts'
import type { SqlValue } from '../sql.ts'
import type { Databases } from './copy-keyed.ts'
import { areEqual } from './keyed-rows.ts'
import { COMPARED, FIRST, type Piece, readPiece } from './session-sections.ts'
import { valuesOf } from './table-pages.ts'

/** Whether a session has the same log and the same state in both databases. */
export async function isSameSession(
  { from, to }: Databases,
  { source, target }: { readonly source: SessionRow; readonly target: SessionRow },
): Promise<boolean> {
  if (source.seq !== target.seq) return false
  let ours: Piece = { rows: [], next: FIRST }
  let theirs: Piece = ours
  while (ours.next && theirs.next) {
    const [atOurs, atTheirs] = [ours.next, theirs.next]
    ours = await from.read(() => readPiece(COMPARED, source, atOurs))
    theirs = await to.read(() => readPiece(COMPARED, target, atTheirs))
    if (!areEqual(columnsOf(ours), columnsOf(theirs))) return false
  }
  return !ours.next && !theirs.next
}

function columnsOf({ rows }: Piece): SqlValue[] {
  return rows.flatMap(({ section, rows: read }) => read.flatMap((row) => valuesOf(row, section.columns)))
}
