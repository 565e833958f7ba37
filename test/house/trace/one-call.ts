// Traced by npm run house: one tool call in a process that has served calls before, from the model's reply to the
// next model request.
import { LlmAgent, type Model, Runner, tool } from 'toolwright'
import { z } from 'zod'
import type { Trace } from './hook.ts'

declare const __trace: Trace

let requests = 0
const model: Model = {
  name: 'call-then-text',
  async *generate() {
    requests++
    const isTraced = requests > 2 // the first run warms up: it converts schemas
    if (requests % 2 === 0) {
      if (isTraced) process.stdout.write(JSON.stringify(__trace.stop()))
      yield { content: { role: 'model', parts: [{ text: 'It is 2 degrees.' }] } }
      return
    }
    if (isTraced) __trace.start()
    const functionCall = { id: `call-${requests}`, name: 'get_weather', args: { city: 'Oslo' } }
    yield { content: { role: 'model', parts: [{ functionCall }] } }
  },
}

const getWeather = tool({
  name: 'get_weather',
  description: 'Get current weather for a city',
  parameters: z.object({ city: z.string() }),
  run: ({ city }) => ({ city, temperature: 2 }),
})
const runner = new Runner({ appName: 'weather', agent: new LlmAgent({ name: 'weather', model, tools: [getWeather] }) })
const { sessionId } = await runner.complete({ userId: 'ada', message: 'Is it cold in Oslo?' })
await runner.complete({ userId: 'ada', sessionId, message: 'And now?' })
