// A first agent: two tools and a model. Talk to it: npx toolwright run examples/weather.ts
import { LlmAgent, Runner, ToolError, tool } from 'toolwright'
import { z } from 'zod'
import { model } from './model.ts'

const celsiusIn = new Map([
  ['Oslo', -3],
  ['Cairo', 31],
  ['Lima', 19],
])

const getWeather = tool({
  name: 'get_weather',
  description: 'Get the current temperature in a city, in degrees Celsius',
  parameters: z.object({ city: z.string() }),
  effect: 'none',
  run: ({ city }) => {
    const celsius = celsiusIn.get(city)
    if (celsius === undefined) throw new ToolError(`Nobody measures in ${city}.`, { code: 'NOT_FOUND' })
    return { city, celsius }
  },
})

const convert = tool({
  name: 'convert',
  description: 'Convert degrees Celsius to Fahrenheit',
  parameters: z.object({ celsius: z.number() }),
  effect: 'none',
  run: ({ celsius }) => ({ fahrenheit: Math.round(celsius * 1.8 + 32) }),
})

const agent: LlmAgent = new LlmAgent({
  name: 'weather',
  model, // of a provider whose key is set, or one that needs no key
  instruction: 'Answer in one sentence.',
  tools: [getWeather, convert],
})
export default agent

/** Messages that `npm start` sends when there is no terminal. */
export const tour: readonly string[] = [
  'What is the weather in Oslo?',
  'How warm is it in Cairo in Fahrenheit?',
  'And in Atlantis?',
]

if (import.meta.main) {
  const runner = new Runner({ appName: 'weather', agent })
  const { text } = await runner.complete({ userId: 'ada', message: 'How warm is it in Lima in Fahrenheit?' })
  console.log(text)
  await runner.close()
}
