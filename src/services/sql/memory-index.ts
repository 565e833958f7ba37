// What the two databases write differently about full-text search. Both index the words of `search-words.ts`, and find texts of one owner
// that have at least one word of a query; the best of them are ranked the same way afterwards.
import { query, type Statement } from './sql.ts'

/** How a database searches the table `toolwright_memory_index` (rowid, owner, words). */
export interface MemoryIndex {
  /** Finds the ids of the best texts by a query, its first value; the second is the most of them. */
  readonly find: Statement
  /** Counts the texts that match a query. */
  readonly count: Statement
  /** The query for texts of an owner with at least one of these words, which are plain letters and digits. */
  match(owner: string, words: readonly string[]): string
}

/** The full-text search of SQLite. */
export const fts5: MemoryIndex = {
  find: query(
    `SELECT rowid AS id FROM toolwright_memory_index WHERE toolwright_memory_index MATCH ?
     ORDER BY bm25(toolwright_memory_index, 0.0, 1.0) LIMIT ?`,
  ),
  count: query('SELECT count(*) AS count FROM toolwright_memory_index WHERE toolwright_memory_index MATCH ?'),
  match: (owner, words) => `owner : "${owner}" AND words : (${words.map((word) => `"${word}"`).join(' OR ')})`,
}

/** The words of a text as Postgres indexes them: the expression of its GIN index. */
export const LEXEMES: string = "array_to_tsvector(string_to_array(trim(owner || ' ' || words), ' '))"
const FROM = `FROM toolwright_memory_index, CAST(? AS tsquery) AS wanted WHERE ${LEXEMES} @@ wanted`

/** The full-text search of Postgres. Its GIN index has the same expression. */
export const tsvector: MemoryIndex = {
  find: query(`SELECT rowid AS id ${FROM} ORDER BY ts_rank(${LEXEMES}, wanted) DESC LIMIT ?`),
  count: query(`SELECT count(*) AS count ${FROM}`),
  match: (owner, words) => `${owner} & (${words.join(' | ')})`,
}
