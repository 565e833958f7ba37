// Complete runs with the offline model, real agents, tools and a runner.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { functionCallsOf, textOf } from '../../core/content/content.ts'
import { ToolError } from '../../core/error/error.ts'
import { agentTool } from '../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import type { LlmRequest } from '../../engine/model/llm-request.ts'
import type { LlmResponse, Model } from '../../engine/model/model.ts'
import { longRunning } from '../../engine/policy/long-running.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import { requestOf, user, wednesday } from './offline/offline-request.test-kit.ts'
import { toolbox } from './offline/toolbox.test-kit.ts'
import { offlineModel } from './offline-model.ts'

const model = offlineModel({ now: wednesday })

const getWeather = tool({
  name: 'get_weather',
  description: 'Get the current temperature in a city',
  parameters: z.object({ city: z.string() }),
  effect: 'none',
  run: ({ city }) => {
    if (city === 'Atlantis') throw new ToolError('Nobody measures in Atlantis.', { code: 'NOT_FOUND' })
    return { city, celsius: city === 'Oslo' ? -3 : 19 }
  },
})
const convert = tool({
  name: 'convert',
  description: 'Convert degrees Celsius to Fahrenheit',
  parameters: z.object({ celsius: z.number() }),
  effect: 'none',
  run: ({ celsius }) => ({ fahrenheit: Math.round(celsius * 1.8 + 32) }),
})

/** Sends messages to one session and returns the replies. */
async function talk(agent: LlmAgent, ...messages: string[]): Promise<string[]> {
  const runner = new Runner({ appName: 'test', agent })
  const said: string[] = []
  for (const message of messages) {
    const { text, error } = await runner.complete({ userId: 'ada', sessionId: 's', message })
    expect(error).toBeUndefined()
    said.push(text)
  }
  await runner.close()
  return said
}

test('the offline model holds a conversation about the weather', async () => {
  const agent = new LlmAgent({ name: 'weather', model, tools: [getWeather, convert] })
  const said = await talk(
    agent,
    'What is the weather in Oslo?',
    'How warm is it in Lima in Fahrenheit?',
    'And in Atlantis?',
    'What about Oslo and Lima?',
    'What is the weather?',
    'Oslo',
  )
  expect(said).toEqual([
    'It is -3 °C in Oslo.',
    'It is 66 °F in Lima.',
    'That did not work: Nobody measures in Atlantis.',
    'It is 27 °F in Oslo. It is 66 °F in Lima.',
    'Please tell me the city.',
    'It is -3 °C in Oslo.',
  ])
})

test('the offline model uses an agent tool and transfers to another agent and back', async () => {
  const findParcel = tool({
    name: 'find_parcel',
    description: 'Find out where a parcel is',
    parameters: z.object({ id: z.number() }),
    effect: 'none',
    run: ({ id }) => ({ id, place: id % 2 ? 'Hamburg' : 'Lyon' }),
  })
  const listCharges = tool({
    name: 'list_charges',
    description: 'List what the customer was charged',
    effect: 'none',
    run: () => ({ charges: [20, 20] }),
  })
  const tracker = new LlmAgent({ name: 'tracker', description: 'Knows where parcels are.', tools: [findParcel] })
  const billing = new LlmAgent({
    name: 'billing',
    description: 'Answers questions about charges.',
    tools: [listCharges],
  })
  const desk = new LlmAgent({
    name: 'desk',
    description: 'Finds parcels.',
    model,
    tools: [agentTool(tracker)],
    subAgents: [billing],
  })
  expect(await talk(desk, 'Where is parcel 7?', 'I was charged twice!', 'And where is parcel 8?')).toEqual([
    'It is in Hamburg.',
    'Charges: 20 and 20.',
    'It is in Lyon.',
  ])
})

test('the offline model returns structured output with and without tools', async () => {
  const outputSchema = z.object({ city: z.string(), celsius: z.number(), cold: z.boolean() })
  const withTools = new LlmAgent({ name: 'a', model, tools: [getWeather], outputSchema })
  expect(await talk(withTools, 'What is the weather in Oslo?')).toEqual(['{"city":"Oslo","celsius":-3,"cold":false}'])
  const without = new LlmAgent({ name: 'b', model, outputSchema: z.object({ who: z.string(), when: z.iso.date() }) })
  expect(await talk(without, 'Ada is coming tomorrow')).toEqual(['{"who":"Ada","when":"2025-03-13"}'])
})

test('the offline model returns structured output through a tool', async () => {
  const { name, generate } = model
  const outputSchema = z.object({ city: z.string(), celsius: z.number() })
  const agent = new LlmAgent({ name: 'a', model: { name, generate }, tools: [getWeather], outputSchema })
  expect(await talk(agent, 'What is the weather in Oslo?')).toEqual(['{"city":"Oslo","celsius":-3}'])
})

test('the offline model reports a long-running call as under way, then its result', async () => {
  const refund = longRunning(
    tool({
      name: 'request_refund',
      description: 'Ask for a refund of an order',
      parameters: z.object({ order_id: z.string() }),
      run: ({ order_id }) => ({ status: 'pending', order_id }),
    }),
  )
  const runner = new Runner({ appName: 'test', agent: new LlmAgent({ name: 'clerk', model, tools: [refund] }) })
  const first = await runner.complete({ userId: 'ada', sessionId: 's', message: 'Refund order A-1' })
  const [pending] = first.pending
  expect(pending).toMatchObject({ tool: 'request_refund', args: { order_id: 'A-1' } })
  const functionResponse = {
    id: pending?.functionCallId ?? '',
    name: 'request_refund',
    response: { status: 'paid', amount: 40 },
  }
  const { text } = await runner.complete({ userId: 'ada', sessionId: 's', message: [{ functionResponse }] })
  expect(text).toBe('Status: paid, amount: 40.')
  await runner.close()
})

test('a run of the offline model can call every tool of a large toolbox', async () => {
  const runner = new Runner({ appName: 'test', agent: new LlmAgent({ name: 'all', model, tools: [...toolbox] }) })
  const { events, error } = await runner.complete({
    userId: 'ada',
    message: 'Turn on the kitchen light and lock the back door',
  })
  const calls = events.flatMap(({ content }) => functionCallsOf(content).map(({ name }) => name))
  expect({ calls, error }).toEqual({ calls: ['set_light', 'lock_door'], error: undefined })
  await runner.close()
})

test('the offline model streams word by word, and the final text is the same', async () => {
  const agent = new LlmAgent({ name: 'weather', model, tools: [getWeather] })
  const runner = new Runner({ appName: 'test', agent })
  const deltas: string[] = []
  let whole = ''
  for await (const { partial, content } of runner.run({
    userId: 'ada',
    message: 'Weather in Oslo?',
    runConfig: { streaming: true },
  })) {
    if (partial) deltas.push(textOf(content))
    else whole = textOf(content)
  }
  expect(deltas).toEqual(['It ', 'is ', '-3 ', '°C ', 'in ', 'Oslo.'])
  expect(deltas.join('')).toBe(whole)
  await runner.close()
})

test('the offline model stops when its signal aborts', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  const heard: string[] = []
  const run = async (): Promise<void> => {
    for await (const { content } of model.generate(requestOf({ messages: 'Hello' }), {
      signal: controller.signal,
      stream: true,
    })) {
      heard.push(textOf(content))
      if (heard.length === 2) controller.abort(reason)
    }
  }
  await expect(run()).rejects.toBe(reason)
  expect(heard).toEqual(['Hello! ', 'I '])
  await expect(run()).rejects.toBe(reason)
  expect(heard).toHaveLength(2)
})

test('the offline model returns the same reply to the same request', async () => {
  const request = requestOf({
    tools: toolbox.flatMap((each) => each.declaration() ?? []),
    messages: [user('Book a table for 4 at Noma tomorrow at 7pm')],
  })
  const replies = await Promise.all([1, 2, 3].map(async () => JSON.stringify(await repliesOf(model, request))))
  expect(new Set(replies).size).toBe(1)
})

test('offlineModel() uses its name and rejects an invalid clock', async () => {
  expect(offlineModel().name).toBe('offline')
  expect(offlineModel({ name: 'rules' }).name).toBe('rules')
  const today = offlineModel({ now: () => Date.UTC(2030, 0, 1) })
  const tools = toolbox.flatMap((each) => each.declaration() ?? [])
  const [reply] = await repliesOf(today, requestOf({ tools, messages: 'Forecast for Oslo tomorrow' }))
  expect(functionCallsOf(reply?.content)[0]?.args).toEqual({ city: 'Oslo', date: '2030-01-02' })
  const broken = offlineModel({ now: () => new Date('never') })
  await expect(repliesOf(broken, requestOf({ messages: 'Hi' }))).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
  })
})

async function repliesOf(asked: Model, request: LlmRequest): Promise<LlmResponse[]> {
  const replies: LlmResponse[] = []
  for await (const reply of asked.generate(request, {})) replies.push(reply)
  return replies
}
