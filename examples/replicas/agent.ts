// The agent of desk.ts: a refund that each process can continue.
import { LlmAgent, tool } from 'toolwright'
import { offlineModel } from 'toolwright/testing'
import { z } from 'zod'

const { BANK_URL = '', REPLICA = '' } = process.env

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

const agent: LlmAgent = new LlmAgent({ name: 'desk', model: offlineModel(), tools: [refund] })
export default agent
