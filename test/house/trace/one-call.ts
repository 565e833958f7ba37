import { LlmAgent, type Model, Runner, tool } from 'toolwright'
import { z } from 'zod'

declare const __trace: { start(): void; stop(): unknown }
let n = 0
const model: Model = {
  name: 'two-replies',
  async *generate() {
    n++
    if (n === 2 || n === 4) {
      const e = __trace.stop()
      if (n === 4) process.stdout.write(JSON.stringify(e))
    }
    if (n % 2 === 1) {
      if (n === 3) __trace.start()
      yield {
        content: { role: 'model', parts: [{ functionCall: { id: `c${n}`, name: 'weather', args: { city: 'Oslo' } } }] },
      }
    } else yield { content: { role: 'model', parts: [{ text: 'done' }] } }
  },
}
const weather = tool({
  name: 'weather',
  description: 'Weather',
  parameters: z.object({ city: z.string() }),
  run: ({ city }) => ({ city, t: 2 }),
})
const runner = new Runner({ appName: 'a', agent: new LlmAgent({ name: 'w', model, tools: [weather] }) })
const first = await runner.complete({ userId: 'u', message: 'hi' })
await runner.complete({ userId: 'u', sessionId: first.sessionId, message: 'again' })
