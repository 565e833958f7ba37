// Traced by npm run house: a tool call of a live model, from send() to turnComplete, after one that warms up.
import { tool } from 'toolwright'
import { connectLive } from 'toolwright/live'
import { scriptedLive } from 'toolwright/testing'
import type { Trace } from './hook.ts'

declare const __trace: Trace

const getWeather = tool({
  name: 'get_weather',
  description: 'Get current weather for a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  run: ({ city }) => ({ city, temperature: 2 }),
})
const calls = [{ name: 'get_weather', args: { city: 'Oslo' } }]
const model = scriptedLive([{ calls }, 'It is 2 degrees.', { calls }, 'It is still 2 degrees.'])
const session = await connectLive({ model, tools: [getWeather] })
const events = session[Symbol.asyncIterator]()

async function ask(text: string): Promise<void> {
  session.send(text)
  for (;;) {
    const { value, done } = await events.next()
    if (done) throw new Error('The live session ended.')
    if (value.type === 'turnComplete') return
  }
}

await ask('Is it cold in Oslo?')
__trace.start()
await ask('And now?')
__trace.stop()
await session.close()
