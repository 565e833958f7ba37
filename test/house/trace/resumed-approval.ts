// Traced by npm run house: an approval that a second runner resumes, as another process that has served runs before
// does, from run() to the last event.
import { approve, InMemorySessionService, LlmAgent, type Model, Runner, tool } from 'toolwright'
import type { Trace } from './hook.ts'

declare const __trace: Trace

const model: Model = {
  name: 'call-then-text',
  async *generate({ contents }) {
    const isAnswered = contents.at(-1)?.role === 'tool'
    const functionCall = { id: `call-${contents.length}`, name: 'refund', args: { order: 'A1' } }
    yield { content: { role: 'model', parts: [isAnswered ? { text: 'Refunded.' } : { functionCall }] } }
  },
}

const sessionService = new InMemorySessionService()

/** What a process of the app makes when it starts. */
function startApp(): Runner {
  const refund = tool({
    name: 'refund',
    description: 'Refund an order',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    requiresConfirmation: true,
    run: ({ order }) => ({ order, refunded: true }),
  })
  return new Runner({ appName: 'shop', agent: new LlmAgent({ name: 'clerk', model, tools: [refund] }), sessionService })
}

const first = startApp()
const { sessionId } = await first.complete({ userId: 'ada', message: 'Refund A1' })
await first.close()

const second = startApp()
await second.complete({ userId: 'bob', message: 'Refund A1' }) // converts the schemas of its tools
const [request] = await second.pending({ userId: 'ada', sessionId })
if (!request) throw new Error('The first runner asked for no approval.')
const message = [approve(request)]
__trace.start()
for await (const event of second.run({ userId: 'ada', sessionId, message })) void event
__trace.stop()
