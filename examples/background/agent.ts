// The agent of worker.ts. In the chat: npx toolwright run examples/background/agent.ts "Count the orders."
import { LlmAgent, tool } from 'toolwright'
import { offlineModel } from 'toolwright/testing'

const countOrders = tool({
  name: 'count_orders',
  description: 'Count the orders of the last minute',
  effect: 'none',
  run: () => ({ orders: 3 }),
})

const agent: LlmAgent = new LlmAgent({ name: 'desk', model: offlineModel(), tools: [countOrders] })
export default agent
