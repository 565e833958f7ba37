import { escapeLine } from '../../../core/base/escape.ts'
import { unreachable } from '../../../core/base/unreachable.ts'
import type { CopyFact } from '../../../services/sql/copy/copy-fact.ts'
import { Screen } from '../screen/screen.ts'
import type { Terminal } from '../terminal.ts'

/** A terminal shows each session; other output gets a line after this many. */
const SESSIONS_PER_LINE = 100

/** Shows on standard error what happens while a store is copied. Returns how many things were not copied. */
export async function showCopy(
  facts: AsyncIterable<CopyFact>,
  { total, terminal }: { readonly total: number; readonly terminal: Terminal },
): Promise<number> {
  const screen = new Screen({ output: terminal.errors, errors: terminal.output, env: terminal.env })
  const since = Date.now()
  let [sessions, skipped] = [0, 0]
  try {
    for await (const fact of facts) {
      switch (fact.type) {
        case 'copied':
          if (fact.kind !== 'sessions') break
          sessions += fact.count
          if (screen.isLive) screen.status(`${sessions} of ${total} sessions`, since)
          else if (sessions % SESSIONS_PER_LINE === 0) screen.write(`Copied ${sessions} of ${total} sessions\n`)
          break
        case 'waiting':
          screen.write(`Waiting for another copy of ${escapeLine(fact.what)}, which may have been killed\n`)
          break
        case 'skipped':
          skipped++
          screen.write(`Not copied: ${escapeLine(fact.what)}. ${escapeLine(fact.why)}\n`)
          break
        default:
          return unreachable(fact)
      }
    }
    return skipped
  } finally {
    screen.status(undefined)
  }
}
