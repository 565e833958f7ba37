// Programs for all runtimes and bundlers of the matrix.

/** A program for every runtime: an agent whose first tool call has invalid arguments. It imports `toolwright/testing`. */
export const AGENT = `
import { LlmAgent, Runner, tool } from 'toolwright'
import { fromAiSdk } from 'toolwright/ai-sdk'
import { createToolContext, offlineModel, scriptedModel } from 'toolwright/testing'

export async function ask() {
  const getWeather = tool({
    name: 'get_weather',
    description: 'Weather for a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run: ({ city }) => ({ city, celsius: 22 }),
  })
  const call = (args) => ({ calls: [{ name: 'get_weather', args }] })
  const model = scriptedModel([call({ city: 5 }), call({ city: 'Oslo' }), 'It is 22 degrees in Oslo.'])
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [getWeather] }) })
  const { events, text } = await runner.complete({ userId: 'ada', message: 'Oslo?' })
  await runner.close()
  const responses = events.flatMap(({ content }) => content?.parts ?? []).flatMap((part) => part.functionResponse ?? [])
  const alone = await getWeather.run({ city: 'Rome' }, createToolContext())
  return [...responses.map(({ response }) => response.errorCode ?? response.city), text, alone.city, typeof offlineModel(), typeof fromAiSdk].join()
}
`
export const AGENT_SAYS = 'INVALID_ARGS,Oslo,It is 22 degrees in Oslo.,Rome,object,function'

export const ROOT = `
import { ask } from './agent.js'
console.log(await ask())
`

export const QUICKJS = `
import { quickjs } from 'toolwright/code'

export async function compute() {
  const callTool = async (_, { value }) => ({ value: 2 * value })
  const code = '(await tools.double({ value: 21 })).value'
  const signal = new AbortController().signal
  const { output } = await quickjs().execute({ code, language: 'js', sessionKey: '', signal, tools: ['double'], callTool })
  return output
}
`
export const CODE = `
import { compute } from './quickjs.js'
console.log(await compute())
`

/** Two runners over one file: the second continues the session of the first. */
export const SQLITE = `
import { LlmAgent, Runner } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { scriptedModel } from 'toolwright/testing'

const file = 'compat-' + Date.now() + '.db'
const say = async (text) => {
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel([text]) })
  const services = sqlite(file)
  const runner = new Runner({ appName: 'app', agent, ...services })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Hello' })
  const session = await services.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
  await runner.close()
  return session.events.length
}
console.log(await say('One.'), await say('Two.'))
`

export const GEMINI_SERVER = `
import { gemini } from 'toolwright/gemini'
import { LlmAgent, Runner } from 'toolwright'
import { geminiServer } from 'toolwright/testing'

const server = await geminiServer(['Cold.'])
const model = gemini('gemini-2.5-flash', { apiKey: 'any', baseUrl: server.url })
const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model }) })
console.log((await runner.complete({ userId: 'ada', message: 'Oslo?' })).text)
await runner.close()
await server.close()
`

/** Uses the types of `toolwright/gemini`, with a client of the developer. */
export const GEMINI_TYPES = `
import { GoogleGenAI } from '@google/genai'
import { gemini, geminiLive } from 'toolwright/gemini'
import { LlmAgent } from 'toolwright'

const client = new GoogleGenAI({ apiKey: 'any' })
const model = gemini('gemini-2.5-flash', { client })
export const agent = new LlmAgent({ name: 'agent', model, generateContentConfig: { temperature: 0.5 } })
export const voice = geminiLive('gemini-live-2.5-flash', { client, config: { temperature: 0.5 } })
`

export const WORKER = `
import { ask } from './agent.js'
export default { fetch: async () => new Response(await ask()) }
`

/** Uses types of every entry point that needs no peer. */
export const TYPES = `
import { LlmAgent, Runner, tool, type Event, type SessionService, type Tool } from 'toolwright'
import { fromAiSdk } from 'toolwright/ai-sdk'
import { docker, isolatedProcess, quickjs } from 'toolwright/code'
import { sqlite } from 'toolwright/sqlite'
import { createToolContext, geminiServer, scriptedModel } from 'toolwright/testing'

const add = tool({
  name: 'add',
  description: 'Adds',
  parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  run: (_, context) => ({ key: context.idempotencyKey }),
})
const tools: readonly Tool[] = [add]
const model = scriptedModel(['Done.'])
const agent = new LlmAgent({ name: 'agent', model, tools, codeExecutor: quickjs() })
const services = sqlite('app.db')
export const sessions: SessionService = services.sessionService
export const runner: Runner = new Runner({ appName: 'app', agent, ...services })
export async function events(): Promise<Event[]> {
  const found: Event[] = []
  for await (const event of runner.run({ userId: 'ada', message: 'Hello' })) found.push(event)
  return found
}
export const others: unknown[] = [createToolContext(), docker, fromAiSdk, geminiServer, isolatedProcess]
// @ts-expect-error a runner needs an agent
new Runner({ appName: 'app' })
`
