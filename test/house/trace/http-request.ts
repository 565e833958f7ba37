// Traced by npm run house: POST /run_sse with one tool call, from the request to the last frame, after one that warms up.
import { LlmAgent, type Model, Runner, tool } from 'toolwright'
import { createServer } from 'toolwright/server'
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
const agent = new LlmAgent({ name: 'weather', model, tools: [getWeather] })
// without its worker, which has steps of its own
const server = createServer({ apps: { weather: new Runner({ appName: 'weather', agent }) }, recover: false })
const { url } = await server.listen({ port: 0 })
const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }

async function post(path: string, body: object): Promise<string> {
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return text
}

async function createSession(): Promise<string> {
  return JSON.parse(await post('/apps/weather/users/ada/sessions', {})).id
}

async function ask(sessionId: string): Promise<void> {
  const newMessage = { role: 'user', parts: [{ text: 'Is it cold in Oslo?' }] }
  const frames = await post('/run_sse', { appName: 'weather', userId: 'ada', sessionId, newMessage })
  if (!frames.includes('It is 2 degrees.')) throw new Error(frames)
}

await ask(await createSession())
for (let time = 0; time < 5; time++) {
  const sessionId = await createSession()
  __trace.start()
  await ask(sessionId)
  __trace.stop()
}
await server.close()
