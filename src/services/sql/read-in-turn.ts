import type { SqlDatabase, SqlWork } from './sql.ts'

/** How much of a log is read, or written without waiting for the turn of the user, at a time. */
export const MAX_PIECE_BYTES = 1_000_000

/**
 * Long reads: calls `read` in read transactions until it returns something. At once, and then each time that it is the turn of
 * the user: decoding rows blocks the event loop.
 */
export async function readInTurn<T extends object>(
  database: SqlDatabase,
  { userId }: { readonly userId: string },
  read: (isTurn: boolean) => SqlWork<T | undefined>,
): Promise<T> {
  let found = await database.read(() => read(false))
  while (!found) found = await database.turns.take(userId, () => database.read(() => read(true)))
  return found
}
