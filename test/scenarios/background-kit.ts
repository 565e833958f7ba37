// The background tool that two processes share, each with its own body.
import { appendFileSync } from 'node:fs'
import { background, type Effect, type Tool, tool } from 'toolwright'

/** What the process gets as its first argument. */
export interface BackgroundChild {
  readonly file: string
  readonly ledger: string
  readonly effect: Effect
}

export const where = { userId: 'ada', sessionId: 's1' }

/** A background tool that writes a line to the ledger each time it runs. */
export function searchTool(effect: Effect, ledger: string, run: () => unknown): Tool {
  const body = (): unknown => {
    appendFileSync(ledger, 'ran\n')
    return run()
  }
  const description = 'Searches'
  const common = { name: 'search', description, run: body }
  if (effect !== 'reconcilable') return background(tool({ ...common, effect }))
  return background(tool({ ...common, effect, reconcile: () => ({ status: 'done', result: { hits: 5 } }) }))
}
