// A shop desk: one tool reads, the other one waits for your approval. `toolwright create` copies this file.
import { LlmAgent, type Model, type Tool, ToolError, tool } from 'toolwright'
import { offlineModel } from 'toolwright/testing'
import { z } from 'zod'

const orders = new Map([
  ['A-7', { item: 'lamp', price: 40, status: 'delivered' }],
  ['A-8', { item: 'chair', price: 90, status: 'on its way' }],
])

const findOrder = tool({
  name: 'find_order',
  description: 'Find an order: what it is, its price and its status',
  parameters: z.object({ orderId: z.string() }),
  effect: 'none', // it only reads: it may run again after a crash
  run: ({ orderId }) => {
    const order = orders.get(orderId)
    if (!order) throw new ToolError(`There is no order ${orderId}.`, { code: 'NOT_FOUND' })
    return { orderId, ...order }
  },
})

const refundOrder = tool({
  name: 'refund_order',
  description: 'Refund the price of an order',
  parameters: z.object({ orderId: z.string() }),
  requiresConfirmation: true,
  confirmationHint: ({ orderId }) => `Refund order ${orderId}?`,
  run: ({ orderId }) => ({ orderId, refunded: orders.get(orderId)?.price ?? 0 }),
})

export const tools: readonly Tool[] = [findOrder, refundOrder]

/** The model whose key is set. Without a key: rules that need no network. */
function chooseModel(env: NodeJS.ProcessEnv): string | Model {
  if (env.GEMINI_API_KEY) return 'gemini-2.5-flash' // npm i @google/genai
  if (env.OPENAI_API_KEY) return 'gpt-5-mini' // npm i @ai-sdk/openai
  if (env.ANTHROPIC_API_KEY) return 'claude-sonnet-4-5' // npm i @ai-sdk/anthropic
  return offlineModel()
}

const agent: LlmAgent = new LlmAgent({
  name: 'shop',
  description: 'Answers questions about orders, and refunds them.',
  instruction: 'Help with orders. Answer in one sentence.',
  model: chooseModel(process.env),
  tools,
})
export default agent

/** Messages that the workbench offers, and that `toolwright run agent.ts` sends without input. */
export const tour: readonly string[] = ['Find order A-7', 'Refund order A-7']
