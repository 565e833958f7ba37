import { escapeLine } from '../../../core/base/escape.ts'
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
      if (fact.type === 'skipped') skipped++
      if (fact.type === 'copied' && fact.kind === 'sessions') sessions += fact.count
      if (fact.type !== 'copied') screen.write(textOf(fact))
      else if (screen.isLive) screen.status(`${sessions} of ${total} sessions`, since)
      else if (fact.kind === 'sessions' && sessions % SESSIONS_PER_LINE === 0)
        screen.write(`Copied ${sessions} of ${total} sessions\n`)
    }
    return skipped
  } finally {
    screen.status(undefined)
  }
}

function textOf(fact: Exclude<CopyFact, { type: 'copied' }>): string {
  const what = escapeLine(fact.what)
  if (fact.type === 'skipped') return `Not copied: ${what}. ${escapeLine(fact.why)}\n`
  return `Waiting for another copy of ${what}, which may have been killed\n`
}
