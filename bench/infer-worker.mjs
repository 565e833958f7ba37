// S1 (fresh session, one tool call, final text) with an inferred tool and with the same tool written out. Prints one JSON line.
// usage: node infer-worker.mjs
import { LlmAgent, Runner, tool } from 'toolwright'
import { attachInferred } from 'toolwright/infer'
import { z } from 'zod'

const ROUNDS = 40
const TURNS = 400
const userId = 'u'
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

const model = {
  name: 'scripted',
  async *generate({ contents }) {
    const isAnswered = contents.at(-1).role === 'tool'
    const call = { functionCall: { id: 'c1', name: 'get_weather', args: { city: 'Paris', units: 'C' } } }
    yield { content: { role: 'model', parts: [isAnswered ? { text: 'Sunny.' } : call] } }
  },
}
const getWeather = async ({ city, units = 'C' }) => ({ city, temp: 21, units })
const parameters = {
  type: 'object',
  properties: { city: { type: 'string', description: 'City name' }, units: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const named = { name: 'get_weather', description: 'Weather for a city' }
const positional = async (city, units = 'C') => ({ city, temp: 21, units })
const tools = {
  inferred: tool(attachInferred(getWeather, { ...named, parameters, call: [{ allArguments: true }] })),
  positional: tool(
    attachInferred(positional, { ...named, parameters, call: [{ argument: 'city' }, { argument: 'units' }] }),
  ),
  written: tool({ ...named, parameters: { ...parameters }, run: getWeather }),
  zod: tool({
    ...named,
    parameters: z.object({ city: z.string().describe('City name'), units: z.string().optional() }),
    run: getWeather,
  }),
}
const runners = Object.entries(tools).map(([name, one]) => [
  name,
  new Runner({ appName: name, agent: new LlmAgent({ name: 'bench', model, tools: [one] }) }),
])

const samples = Object.fromEntries(runners.map(([name]) => [name, []]))
for (let round = -5; round < ROUNDS; round++) {
  // the order changes in each round, so that no tool always runs first
  const order = round % 2 === 0 ? runners : [...runners].reverse()
  for (const [name, runner] of order) {
    const start = performance.now()
    for (let turn = 0; turn < TURNS; turn++) {
      const { sessionId } = await runner.complete({ userId, message: 'Weather?' })
      await runner.sessionService.deleteSession({ appName: name, userId, sessionId })
    }
    if (round >= 0) samples[name].push(((performance.now() - start) / TURNS) * 1_000)
  }
}
console.log(
  `RESULT ${JSON.stringify(Object.fromEntries(Object.entries(samples).map(([name, all]) => [name, median(all)])))}`,
)
