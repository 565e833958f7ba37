// Several agents: handing over, passing on, and loops.
import { expect, test } from 'vitest'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { transferTool } from '../../agent/agents/transfer.ts'
import type { Content, FunctionDeclaration } from '../../content/content.ts'
import { ask, callsFor, declare, exchange, textFor, user } from './asking.test-kit.ts'

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
])('"%s" is handed over to %s', async (said, agent_name) => {
  expect(await callsFor({ tools, bodies, said })).toEqual([['transfer_to_agent', { agent_name }]])
})

test('what its own tools can do is not handed over', async () => {
  expect(await callsFor({ tools, bodies, said: 'Where is parcel 7?' })).toEqual([['find_parcel', { id: 7 }]])
})

test('an agent that has handed it over does not get it back', async () => {
  const said = [user('I was charged twice!'), context('[billing] called transfer_to_agent with {"agent_name":"me"}')]
  expect(await textFor({ tools, bodies, said })).toContain(
    'hand over to billing (answers questions about invoices and charges)',
  )
})

test('a list that is not about agents is none', async () => {
  const notes = { systemInstruction: 'Things to know:\n- billing: is closed' }
  expect(await callsFor({ tools: [parcel], said: 'I want billing', config: notes })).toEqual([])
})

test('what others said is not what the user said', async () => {
  const said = [user('Hello'), context('[billing] said: Where is parcel 7?')]
  expect(await callsFor({ tools, bodies, said })).toEqual([])
})

test('an agent without tools passes on what others said', async () => {
  const said = [
    user('Write about Oslo.'),
    context('[place] said: It lies at a fjord.'),
    context('[sights] said: See the opera.'),
  ]
  expect(await textFor({ said })).toBe('It lies at a fjord. See the opera.')
})

test('an agent nobody speaks to does what its instruction says', async () => {
  const shorten = declare('shorten_text', 'Make the text shorter')
  const instructed = { systemInstruction: 'Make the text shorter with your tool.' }
  for (const text of ['Do what your instructions say.', 'Go on as instructed.'])
    expect(await callsFor({ tools: [shorten], said: text, config: instructed })).toEqual([['shorten_text', {}]])
})

test('a message that names no tool is read with the instruction in mind', async () => {
  const locate = declare('locate', 'Say where a city lies', { city: { type: 'string' } })
  const instructed = { systemInstruction: 'Say where the city lies.' }
  expect(await callsFor({ tools: [locate], said: 'Write about Oslo.', config: instructed })).toEqual([
    ['locate', { city: 'Oslo' }],
  ])
  expect(await callsFor({ tools: [locate], said: 'Hello.', config: instructed })).toEqual([])
})

test('a loop is left when its work is done, and not before', async () => {
  const check = declare('check_text', 'Check the text')
  const loop = [check, declare('exit_loop', 'End the loop.')]
  const said = user('Check the text')
  const checked = (passed: boolean) => [said, ...exchange('check_text', {}, { passed })]
  expect(await callsFor({ tools: loop, said: [said] })).toEqual([['check_text', {}]])
  expect(await textFor({ tools: loop, said: checked(false) })).toBe('Not passed.')
  expect(await callsFor({ tools: loop, said: checked(true) })).toEqual([['exit_loop', {}]])
  const left = exchange('exit_loop', {}, { status: 'ok' }, 'call-2')
  expect((await ask({ tools: loop, said: [...checked(true), ...left] }))[0]?.functionCall).toBeUndefined()
})

test('each round of a loop speaks of its own results', async () => {
  const check = declare('check_text', 'Check the text')
  const said = [
    user('Check the text'),
    ...exchange('check_text', {}, { words: 90 }),
    { role: 'model', parts: [{ text: 'Words: 90.' }] } as const,
    ...exchange('check_text', {}, { words: 80 }, 'call-2'),
  ]
  expect(await textFor({ tools: [check], said })).toBe('Words: 80.')
})

test('a result that was waited for is told when it is there', async () => {
  const started = exchange('find_parcel', { id: 7 }, { id: 7, place: 'Lyon' }, 'call-9')
  const said = [user('Where is parcel 7?'), ...started, user('The result of find_parcel (call-9) has arrived.')]
  expect(await textFor({ tools, said })).toBe('It is in Lyon.')
})
