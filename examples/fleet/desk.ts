// The agent file. It is the same in memory, on SQLite, on Postgres, and in a fleet: only DATABASE_URL says where sessions are stored.
import { LlmAgent, Runner, tool } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import { sqlite } from 'toolwright/sqlite'
import { offlineModel } from 'toolwright/testing'
import { z } from 'zod'

const { DATABASE_URL, BANK_URL = '', REPLICA = '' } = process.env

const refund = tool({
  name: 'refund',
  description: 'Refund money for an order',
  parameters: z.object({ orderId: z.string(), amount: z.number().positive() }),
  requiresConfirmation: true,
  confirmationHint: ({ orderId, amount }) => `Refund ${amount} EUR for order ${orderId}?`,
  // The bank pays a key once. So another worker may call it again when one dies before it has recorded the result.
  effect: 'idempotent',
  run: async ({ orderId, amount }, { idempotencyKey, signal }) => {
    const headers = { 'idempotency-key': idempotencyKey, 'x-client': REPLICA }
    const body = JSON.stringify({ orderId, amount })
    const response = await fetch(BANK_URL, { method: 'POST', headers, body, signal })
    return await response.json()
  },
})

const agent = new LlmAgent({ name: 'desk', model: offlineModel(), tools: [refund] })
const services = DATABASE_URL ? postgres(DATABASE_URL, { schema: 'toolwright_fleet' }) : sqlite('desk.db')

const runner: Runner = new Runner({ appName: 'desk', agent, ...services })
export default runner
