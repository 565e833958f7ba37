// Traced by npm run house: one tool call, from run() to the last event, in a session whose view is kept from the run before.
import { LlmAgent, type Model, Runner, tool } from 'toolwright'
import type { Trace } from './hook.ts'

declare const __trace: Trace

const model: Model = {
  name: 'call-then-text',
  async *generate({ contents }) {
    const isAnswered = contents.at(-1)?.role === 'tool'
    const functionCall = { name: 'get_weather', args: { city: 'Oslo' } }
    yield { content: { role: 'model', parts: [isAnswered ? { text: 'It is 2 degrees.' } : { functionCall }] } }
  },
}

const getWeather = tool({
  name: 'get_weather',
  description: 'Get current weather for a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  run: ({ city }) => ({ city, temperature: 2 }),
})
const runner = new Runner({ appName: 'weather', agent: new LlmAgent({ name: 'weather', model, tools: [getWeather] }) })
const { sessionId } = await runner.complete({ userId: 'ada', message: 'Is it cold in Oslo?' })
for (let turn = 0; turn < 3; turn++) await runner.complete({ userId: 'ada', sessionId, message: 'And now?' })
__trace.start()
for await (const event of runner.run({ userId: 'ada', sessionId, message: 'And now?' })) void event
__trace.stop()
