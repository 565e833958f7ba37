// The agents on the pictures of the documentation: a shop whose models follow a script, so that every picture is the same.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Agent,
  agentTool,
  confirm,
  LlmAgent,
  type LlmRequest,
  type Model,
  type Tool,
  ToolError,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { z } from 'zod'

/** A model that takes its time and decides from the responses since the last message. */
function model(next: (done: readonly string[]) => ScriptedStep): Model {
  return {
    name: 'scripted',
    async *generate(request, options) {
      await sleep(140)
      yield* scriptedModel([next(doneIn(request))]).generate(request, options)
    },
  }
}

function doneIn({ contents }: LlmRequest): readonly string[] {
  const last = contents.findLastIndex(({ role, parts }) => role === 'user' && parts.some(({ text }) => text))
  return contents
    .slice(last)
    .flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse?.name ?? []))
}

const tokens = (input: number, output: number) => ({
  usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
})
const call = (name: string, args: Record<string, unknown>) => ({ name, args })

const findOrder = tool({
  name: 'find_order',
  description: 'Find an order by its number.',
  parameters: z.object({
    order: z.string().describe('The number on the invoice, such as A-1042'),
    region: z.enum(['eu', 'us']).default('eu'),
    withHistory: z.boolean().optional().describe('Also return earlier states of the order'),
  }),
  effect: 'none',
  run: async ({ order, region }, context) => {
    await sleep(110)
    if (!order.startsWith('A-')) throw new ToolError(`There is no order ${order}. Order numbers start with "A-".`)
    context.state.set('order', order)
    return { order, region, item: 'Desk lamp', price: 23.5, payments: 2 }
  },
})
const searchPolicy = tool({
  name: 'search_policy',
  description: 'Search the refund policy.',
  parameters: z.object({ query: z.string() }),
  effect: 'none',
  run: async ({ query }) => {
    await sleep(320)
    return { query, section: '4.2', rule: 'A double payment is refunded in full.' }
  },
})
const readLedger = tool({
  name: 'read_ledger',
  description: 'Read the payments of an order.',
  parameters: z.object({ order: z.string() }),
  effect: 'none',
  run: async () => {
    await sleep(210)
    return { payments: [23.5, 23.5], currency: 'EUR' }
  },
})
const refund: Tool = confirm(
  tool({
    name: 'refund_order',
    description: 'Refund money for an order.',
    parameters: z.object({ order: z.string(), amount: z.number().positive(), note: z.string().optional() }),
    allowEditedArgs: true,
    run: async ({ order, amount }, context) => {
      await sleep(160)
      context.state.set('refunded', amount)
      const receipt = `Receipt\n\nOrder ${order}\nRefunded ${amount} EUR\n`
      await context.saveArtifact('receipts/A-1042.txt', { text: receipt })
      return { order, refunded: amount, receipt: 'receipts/A-1042.txt' }
    },
  }),
  'Refund 23.50 EUR for order A-1042?',
)

const auditor = new LlmAgent({
  name: 'auditor',
  description: 'Checks payments.',
  model: model((done) =>
    done.length === 0
      ? { calls: [call('read_ledger', { order: 'A-1042' })], response: tokens(120, 14) }
      : { text: 'Order A-1042 was paid twice.', response: tokens(188, 12) },
  ),
  tools: [readLedger],
})
const clerk = new LlmAgent({
  name: 'clerk',
  description: 'Refunds orders.',
  model: model((done) =>
    done.includes('refund_order')
      ? {
          text: 'Done. **23.50 EUR** are on their way back to your card.\n\n| order | item | refunded |\n|---|---|---|\n| A-1042 | Desk lamp | 23.50 EUR |',
          response: tokens(612, 48),
        }
      : { calls: [call('refund_order', { order: 'A-1042', amount: 23.5 })], response: tokens(540, 31) },
  ),
  tools: [refund],
})

/** A service desk: parallel calls, an agent as a tool, a repeated call, a transfer and an approval. */
export const shop: Agent = new LlmAgent({
  name: 'shop',
  description: 'The service desk of a small shop.',
  instruction: 'You help customers of a small shop. Look up the order before you promise anything.',
  model: model((done) => {
    if (done.length === 0)
      return {
        text: 'Let me look at the order and the policy.',
        calls: [
          call('find_order', { order: '1042' }),
          call('search_policy', { query: 'double payment' }),
          call('auditor', { request: 'Was A-1042 paid twice?' }),
        ],
        response: tokens(310, 64),
      }
    if (done.length === 3) return { calls: [call('find_order', { order: 'A-1042' })], response: tokens(402, 18) }
    return { calls: [call('transfer_to_agent', { agent_name: 'clerk' })], response: tokens(455, 12) }
  }),
  tools: [findOrder, searchPolicy, agentTool(auditor)],
  subAgents: [clerk],
})
