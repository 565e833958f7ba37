import { LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const getWeather = tool({
  name: 'get_weather',
  description: 'Get current weather for a city',
  parameters: z.object({ city: z.string(), units: z.enum(['celsius', 'fahrenheit']).default('celsius') }),
  run: async ({ city, units }, context) => {
    context.state.set('lastCity', city)
    return { city, temperature: 22, units }
  },
})

test("the runner runs a tool call and returns the model's answer", async () => {
  const model = scriptedModel([{ calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] }, 'It is 22 degrees.'])
  const agent = new LlmAgent({ name: 'weather', model, tools: [getWeather] })
  const runner = new Runner({ appName: 'app', agent })
  const { text, events, sessionId } = await runner.complete({ userId: 'ada', message: 'Weather in Oslo?' })
  expect(text).toBe('It is 22 degrees.')
  expect(events.map((event) => event.content?.role)).toEqual(['model', 'tool', 'model'])
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({
    city: 'Oslo',
    temperature: 22,
    units: 'celsius',
  })
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  expect(session?.state).toEqual({ lastCity: 'Oslo' })
  expect(session?.events).toHaveLength(4)
})
