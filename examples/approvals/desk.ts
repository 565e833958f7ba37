// Shared by both commands: an agent that refunds after an approval, and a file that stores its sessions.
import { LlmAgent, Runner, tool } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { z } from 'zod'
import { model } from '../model.ts'

const refund = tool({
  name: 'refund',
  description: 'Refund money for an order',
  parameters: z.object({ orderId: z.string(), amount: z.number().positive() }),
  requiresConfirmation: ({ amount }) => amount > 100,
  confirmationHint: ({ orderId, amount }) => `Refund ${amount} EUR for order ${orderId}?`,
  run: ({ orderId, amount }, context) => {
    // Send the key with the payment: it is the same for every attempt of this call.
    console.log(`[bank] ${amount} EUR for ${orderId}, key ${context.idempotencyKey}`)
    return { orderId, amount, refunded: true }
  },
})

const agent = new LlmAgent({ name: 'desk', model, instruction: 'Refund what you are asked to.', tools: [refund] })
const file = process.env.APPROVALS_DB ?? 'approvals.db'

const runner: Runner = new Runner({ appName: 'approvals', agent, ...sqlite(file) })
export default runner
