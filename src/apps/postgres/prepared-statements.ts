// Statements that a connection has under a name: the server reads and plans them once, which is most of the work of a short statement.
import { createHash } from 'node:crypto'

/** Statements with a name, at most. Others are sent as text each time. */
const MOST_NAMES = 300

/** A name is also known to the server when another process has given it: it stands for one text. */
const nameFor = (text: string): string => `toolwright_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`

/** What the server says when a connection has no such statement, has it already, or would return other columns for it now. */
const UNKNOWN = '26000'
const KNOWN_ALREADY = '42P05'
const CHANGED = '0A000'

/**
 * The names of statements, and which connections know them. Behind a pooler that gives each transaction another connection of the server,
 * names lead nowhere: after the first error of that kind there are none.
 */
export class PreparedStatements {
  /** By text; null for one that was sent once. */
  readonly #names: Map<string, string | null> = new Map()
  readonly #known: WeakMap<object, Set<string>> = new WeakMap()
  #isOff = false

  /** The name of a statement; empty for one that is sent as text, such as those that begin and end transactions. */
  nameOf({ text, values }: { readonly text: string; readonly values: readonly unknown[] }): string {
    if (this.#isOff || values.length === 0) return ''
    const known = this.#names.get(text)
    if (known) return known
    if (known === undefined) {
      if (this.#names.size < MOST_NAMES) this.#names.set(text, null)
      return ''
    }
    const name = nameFor(text)
    this.#names.set(text, name)
    return name
  }

  /** Does the connection know the name? */
  isKnown(connection: object, name: string): boolean {
    return this.#known.get(connection)?.has(name) ?? false
  }

  /** Remembers that the connection knows the names. */
  remember(connection: object, names: readonly string[]): void {
    const known = this.#known.get(connection) ?? new Set()
    this.#known.set(connection, known)
    for (const name of names) known.add(name)
  }

  /** Reads the code of an error. One that comes from a name ends all names; the transaction is repeated, as after a conflict. */
  read(code: string | undefined): void {
    if (code === UNKNOWN || code === KNOWN_ALREADY || code === CHANGED) this.#isOff = true
  }
}
