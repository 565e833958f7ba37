import { approve, InMemorySessionService, LlmAgent, type Model, Runner, tool } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { z } from 'zod'

declare const __trace: { start(): void; stop(): unknown }
const model: Model = {
  name: 'm',
  async *generate(request) {
    const last = request.contents.at(-1)
    if (last?.parts?.[0]?.functionResponse) yield { content: { role: 'model', parts: [{ text: 'done' }] } }
    else
      yield {
        content: { role: 'model', parts: [{ functionCall: { id: `c1`, name: 'refund', args: { order: 'A1' } } }] },
      }
  },
}
const make = () =>
  tool({
    name: 'refund',
    description: 'Refund',
    parameters: z.object({ order: z.string() }),
    requiresConfirmation: true,
    run: ({ order }) => ({ order }),
  })
const useSqlite = process.argv[2] === 'sqlite'
const shared = new InMemorySessionService()
const services = () => (useSqlite ? sqlite('/tmp/trace-resume.db') : { sessionService: shared })
const runner = new Runner({ appName: 'a', agent: new LlmAgent({ name: 'w', model, tools: [make()] }), ...services() })
const first = await runner.complete({ userId: 'u', message: 'hi' })
await runner.close()
const second = new Runner({ appName: 'a', agent: new LlmAgent({ name: 'w', model, tools: [make()] }), ...services() })
const [request] = await second.pending({ userId: 'u', sessionId: first.sessionId })
if (!request) throw new Error('no request')
__trace.start()
for await (const event of second.run({ userId: 'u', sessionId: first.sessionId, message: [approve(request)] }))
  void event
process.stdout.write(JSON.stringify(__trace.stop()))
