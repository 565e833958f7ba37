import type { Statement } from '../../services/sql/sql.ts'

const texts = new WeakMap<Statement, string>()

/** The text of a statement with `$1`, `$2` for its values, made once for each statement. */
export function textOf(statement: Statement): string {
  const known = texts.get(statement)
  if (known !== undefined) return known
  const text = numbered(statement.sql)
  texts.set(statement, text)
  return text
}

/** Numbers the question marks outside of quotes. */
function numbered(sql: string): string {
  let count = 0
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g, (part) => (part === '?' ? `$${++count}` : part))
}
