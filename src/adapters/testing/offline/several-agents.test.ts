// Several agents: transfers, texts of other agents, and loops.
import { expect, test } from 'vitest'
import type { Content, FunctionDeclaration } from '../../../core/content/content.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { transferTool } from '../../../engine/agent/agents/transfer.ts'
import { callsFor, declare, exchange, generateParts, textFor, user } from './offline-request.test-kit.ts'

const parcel = declare('find_parcel', 'Find out where a parcel is', { id: { type: 'number' } })
const agents = [
  new LlmAgent({ name: 'billing', description: 'Answers questions about invoices and charges.' }),
  new LlmAgent({ name: 'repairs', description: 'Mends what is broken.' }),
  new LlmAgent({ name: 'front_desk' }),
]
const transfer = transferTool(agents)
const tools = [parcel, transfer.declaration() as FunctionDeclaration]
const bodies = new Map([[transfer.name, transfer]])

function context(...texts: string[]): Content {
  return { role: 'user', parts: [{ text: 'For context:' }, ...texts.map((text) => ({ text }))] }
}

test.each([
  ['I was charged twice!', 'billing'],
  ['My invoice is wrong', 'billing'],
  ['It is broken, please mend it', 'repairs'],
  ['Let me talk to the front desk', 'front_desk'],
])('the offline model transfers "%s" to %s', async (messages, agent_name) => {
  expect(await callsFor({ tools, bodies, messages })).toEqual([['transfer_to_agent', { agent_name }]])
})

test('the offline model prefers its own tools to a transfer', async () => {
  expect(await callsFor({ tools, bodies, messages: 'Where is parcel 7?' })).toEqual([['find_parcel', { id: 7 }]])
})

test('the offline model does not transfer back to the agent that transferred', async () => {
  const messages = [
    user('I was charged twice!'),
    context('[billing] called transfer_to_agent with {"agent_name":"me"}'),
  ]
  expect(await textFor({ tools, bodies, messages })).toContain(
    'hand over to billing (answers questions about invoices and charges)',
  )
})

test('the offline model reads no transfer targets from a list in the instruction', async () => {
  const notes = { systemInstruction: 'Things to know:\n- billing: is closed' }
  expect(await callsFor({ tools: [parcel], messages: 'I want billing', config: notes })).toEqual([])
})

test('the offline model does not read texts of other agents as user messages', async () => {
  const messages = [user('Hello'), context('[billing] said: Where is parcel 7?')]
  expect(await callsFor({ tools, bodies, messages })).toEqual([])
})

test('the offline model repeats the texts of other agents when its agent has no tools', async () => {
  const messages = [
    user('Write about Oslo.'),
    context('[place] said: It lies at a fjord.'),
    context('[sights] said: See the opera.'),
  ]
  expect(await textFor({ messages })).toBe('It lies at a fjord. See the opera.')
})

test('the offline model follows the instruction when there is no user message', async () => {
  const shorten = declare('shorten_text', 'Make the text shorter')
  const instructed = { systemInstruction: 'Make the text shorter with your tool.' }
  for (const text of ['Do what your instructions say.', 'Continue as instructed.'])
    expect(await callsFor({ tools: [shorten], messages: text, config: instructed })).toEqual([['shorten_text', {}]])
})

test('the offline model calls the tool of the instruction with arguments from a message that names no tool', async () => {
  const locate = declare('locate', 'Say where a city lies', { city: { type: 'string' } })
  const instructed = { systemInstruction: 'Say where the city lies.' }
  expect(await callsFor({ tools: [locate], messages: 'Write about Oslo.', config: instructed })).toEqual([
    ['locate', { city: 'Oslo' }],
  ])
  expect(await callsFor({ tools: [locate], messages: 'Hello.', config: instructed })).toEqual([])
})

test('the offline model exits a loop when the last result says it is done', async () => {
  const check = declare('check_text', 'Check the text')
  const loop = [check, declare('exit_loop', 'End the loop.')]
  const messages = user('Check the text')
  const checked = (passed: boolean) => [messages, ...exchange('check_text', {}, { passed })]
  expect(await callsFor({ tools: loop, messages: [messages] })).toEqual([['check_text', {}]])
  expect(await textFor({ tools: loop, messages: checked(false) })).toBe('Not passed.')
  expect(await callsFor({ tools: loop, messages: checked(true) })).toEqual([['exit_loop', {}]])
  const left = exchange('exit_loop', {}, { status: 'ok' }, 'call-2')
  expect((await generateParts({ tools: loop, messages: [...checked(true), ...left] }))[0]?.functionCall).toBeUndefined()
})

test('the offline model describes only the results of the current loop iteration', async () => {
  const check = declare('check_text', 'Check the text')
  const messages = [
    user('Check the text'),
    ...exchange('check_text', {}, { words: 90 }),
    { role: 'model', parts: [{ text: 'Words: 90.' }] } as const,
    ...exchange('check_text', {}, { words: 80 }, 'call-2'),
  ]
  expect(await textFor({ tools: [check], messages })).toBe('Words: 80.')
})

test('the offline model reports the result of a long-running call', async () => {
  const started = exchange('find_parcel', { id: 7 }, { id: 7, place: 'Lyon' }, 'call-9')
  const messages = [user('Where is parcel 7?'), ...started, user('The result of find_parcel (call-9) has arrived.')]
  expect(await textFor({ tools, messages })).toBe('It is in Lyon.')
})
