// A team: the front desk transfers billing questions to another agent, and calls a third agent as a tool.
import { agentTool, LlmAgent, Runner, textOf, tool } from 'toolwright'
import { z } from 'zod'
import { model } from './model.ts'

const findParcel = tool({
  name: 'find_parcel',
  description: 'Find out where a parcel is',
  parameters: z.object({ id: z.number() }),
  effect: 'none',
  run: ({ id }) => ({ id, place: id % 2 ? 'Hamburg' : 'Lyon' }),
})

const listCharges = tool({
  name: 'list_charges',
  description: 'List what the customer was charged this month',
  effect: 'none',
  run: () => ({
    charges: [
      { id: 'C-1', amount: 20, currency: 'EUR' },
      { id: 'C-2', amount: 20, currency: 'EUR', status: 'given back' },
    ],
  }),
})

const tracker = new LlmAgent({
  name: 'tracker',
  description: 'Knows where parcels are.',
  instruction: 'Say where the parcel is, in one short sentence.',
  tools: [findParcel],
})

const billing = new LlmAgent({
  name: 'billing',
  description: 'Answers questions about invoices and charges.',
  instruction: 'Say what was charged. You know nothing about parcels: hand such questions over.',
  tools: [listCharges],
})

const frontDesk: LlmAgent = new LlmAgent({
  name: 'front_desk',
  description: 'Finds parcels, and knows whom to ask about everything else.',
  model, // the other agents use it too
  instruction: 'Ask the tracker about parcels. Hand everything about money over.',
  tools: [agentTool(tracker)],
  subAgents: [billing],
})
export default frontDesk

export const tour: readonly string[] = ['Where is parcel 7?', 'I was charged twice!', 'And where is parcel 8?']

if (import.meta.main) {
  const runner = new Runner({ appName: 'team', agent: frontDesk })
  for (const message of tour) {
    const { events } = await runner.complete({ userId: 'ada', sessionId: 'desk', message })
    const last = events.at(-1)
    console.log(`${message}\n${last?.author}: ${textOf(last?.content)}`)
  }
  await runner.close()
}
