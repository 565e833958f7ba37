// What became of a transaction whose connection was lost during its commit.
import { systemPorts } from '../../core/base/ports.ts'
import { failureOf } from './failure.ts'
import type { SentResult, SentStatement } from './send-together.ts'
import { quoteName } from './transaction-start.ts'

/** `unknown`: the server has forgotten it. */
export type CommitOutcome = 'committed' | 'aborted' | 'unknown'

type Send = (statements: readonly SentStatement[]) => Promise<SentResult[]>

const PAUSE_MS = 50

/**
 * Reads what identifies the time since the last crash of the server, or the takeover of another server. An id of a transaction is
 * unique in it: after a crash, the ids of transactions that were lost are given again.
 */
export async function readUptime(send: Send, schema: string): Promise<string> {
  const id = systemPorts.newId()
  // an insert that finds the row returns nothing, and another process may have inserted it
  const table = tableIn(schema)
  await send([{ text: `INSERT INTO ${table} (id) VALUES ($1) ON CONFLICT DO NOTHING`, values: [id] }])
  const [found] = await send([{ text: `SELECT id FROM ${table}`, values: [] }])
  return String(found?.rows[0]?.id)
}

/** Asks the server. The old connection may still be at work on the transaction, at most for `maxMs`. */
export async function commitOutcome(
  send: Send,
  transaction: { readonly id: string; readonly uptime: string },
  { schema, maxMs }: { readonly schema: string; readonly maxMs: number },
): Promise<CommitOutcome> {
  const deadline = systemPorts.monotonicNow() + maxMs
  const text = `SELECT pg_xact_status(CAST(CAST($1 AS text) AS xid8)) AS status, id AS uptime FROM ${tableIn(schema)}`
  try {
    while (systemPorts.monotonicNow() < deadline) {
      const [
        {
          rows: [row],
        } = { rows: [] },
      ] = await send([{ text, values: [transaction.id] }])
      if (row?.uptime !== transaction.uptime) return 'unknown'
      if (row.status === 'committed' || row.status === 'aborted') return row.status
      if (row.status !== 'in progress') return 'unknown'
      await new Promise<void>((resolve) => void systemPorts.setTimer(resolve, PAUSE_MS))
    }
  } catch (error) {
    if (failureOf(error) === 'away') throw error
    // another server has taken over and never had the transaction
  }
  return 'unknown'
}

function tableIn(schema: string): string {
  return `${quoteName(schema)}.toolwright_uptime`
}
