// A team: the front desk hands billing questions over to another agent, and asks a third one as if it were a tool.
import { agentTool, LlmAgent, Runner, textOf, tool } from 'toolwright'
import { z } from 'zod'
import { standIn } from './offline.ts'

const findParcel = tool({
  name: 'find_parcel',
  description: 'Find out where a parcel is',
  parameters: z.object({ id: z.number() }),
  effect: 'none',
  run: ({ id }) => ({ id, place: id % 2 ? 'Hamburg' : 'Lyon' }),
})

const tracker = new LlmAgent({
  name: 'tracker',
  description: 'Knows where parcels are.',
  model: standIn(({ text, results }) =>
    results[0]
      ? `It is in ${results[0].response.place}.`
      : [{ name: 'find_parcel', args: { id: Number(/\d+/.exec(text)?.[0]) } }],
  ),
  tools: [findParcel],
})

const billing = new LlmAgent({
  name: 'billing',
  description: 'Answers questions about invoices.',
  model: standIn(({ text }) =>
    /parcel/i.test(text)
      ? [{ name: 'transfer_to_agent', args: { agent_name: 'front_desk' } }]
      : 'The second charge was a mistake. You get it back within three days.',
  ),
})

const frontDesk: LlmAgent = new LlmAgent({
  name: 'front_desk',
  model: standIn(({ text, results }) => {
    const found = results.find(({ name }) => name === 'tracker')
    if (found) return `I asked around. ${found.response.text}`
    if (/charge|invoice/i.test(text)) return [{ name: 'transfer_to_agent', args: { agent_name: 'billing' } }]
    if (/parcel/i.test(text)) return [{ name: 'tracker', args: { request: text } }]
    return 'Ask me about a parcel or an invoice.'
  }),
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
