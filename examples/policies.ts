// Policies wrap a tool and nest in any order. This tool calls a service that is slow, unreliable, limited and verbose.
import { cached, concurrency, LlmAgent, Runner, rateLimit, redact, retry, timeout, tool } from 'toolwright'
import { z } from 'zod'
import { model } from './model.ts'

let calls = 0
let attempts = 0

const findCustomer = tool({
  name: 'find_customer',
  description: 'Look a customer up',
  parameters: z.object({ id: z.number() }),
  effect: 'none', // it only reads, so it is safe to retry
  run: async ({ id }) => {
    attempts++
    if (attempts === 1) throw new Error('The service hung up.')
    return {
      id,
      name: id === 1 ? 'Ada' : 'Bob',
      ssn: '078-05-1120',
      cards: [{ bank: 'First', number: '4111111111111111' }],
    }
  },
})

const patient = retry(timeout(findCustomer, 2_000), { attempts: 3, delayMs: 10 })
const polite = rateLimit(concurrency(patient, 2), { max: 10, perMs: 1_000 })
const discreet = redact(cached(polite, { ttlMs: 60_000 }), ['ssn', 'cards[].number'])

const agent: LlmAgent = new LlmAgent({
  name: 'desk',
  model,
  instruction: 'Look customers up whenever you are asked about them.',
  tools: [discreet],
  beforeTool: () => void calls++,
})
export default agent

export const tour: readonly string[] = ['Who are customers 1 and 2?', 'And once more?']

if (import.meta.main) {
  const runner = new Runner({ appName: 'policies', agent })
  for (const message of tour) {
    const { text } = await runner.complete({ userId: 'ada', sessionId: 'desk', message })
    console.log(`${message}\n${text}`)
  }
  console.log(`${calls} calls, ${attempts} attempts: one failed and was tried again, some were answered from memory.`)
  await runner.close()
}
