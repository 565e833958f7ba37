// The agent file of all processes: a runner on Postgres, and a refund that each of them can continue.
import { LlmAgent, Runner, tool } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import { offlineModel } from 'toolwright/testing'
import { z } from 'zod'

const { DATABASE_URL = '', BANK_URL = '', REPLICA = '' } = process.env

const refund = tool({
  name: 'refund',
  description: 'Refund money for an order',
  parameters: z.object({ orderId: z.string(), amount: z.number().positive() }),
  requiresConfirmation: true,
  confirmationHint: ({ orderId, amount }) => `Refund ${amount} EUR for order ${orderId}?`,
  // The bank pays a key once. So another process may call it again when one dies before it has recorded the result.
  effect: 'idempotent',
  run: async ({ orderId, amount }, { idempotencyKey, signal }) => {
    const headers = { 'idempotency-key': idempotencyKey, 'x-client': REPLICA }
    const body = JSON.stringify({ orderId, amount })
    const response = await fetch(BANK_URL, { method: 'POST', headers, body, signal })
    return await response.json()
  },
})

const agent = new LlmAgent({ name: 'desk', model: offlineModel(), tools: [refund] })
// After 2 seconds without a sign of life, the sessions of a process go to another one. In production, keep the default of 15.
const services = postgres(DATABASE_URL, { schema: 'toolwright_replicas', leaseMs: 2_000 })
await services.ready() // creates the tables; a wrong address or password ends the process here

const runner: Runner = new Runner({ appName: 'desk', agent, ...services })
export default runner
