// Sentences of the kinds that examples use, and the calls of the offline model. Today is 12 March 2025.
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/base/json.ts'
import { callsFor, declare, textFor, user } from './offline/offline-request.test-kit.ts'
import { toolbox } from './offline/toolbox.test-kit.ts'

const tools = toolbox.flatMap((tool) => tool.declaration() ?? [])

type Call = readonly [name: string, args: JsonObject]

/** Sentences with their expected calls. */
const table: readonly (readonly [sentence: string, ...calls: Call[]])[] = [
  // names
  ['What is the weather in Oslo?', ['get_weather', { city: 'Oslo' }]],
  ['How warm is it in Rio de Janeiro?', ['get_weather', { city: 'Rio de Janeiro' }]],
  ["What's the weather like in Oslo today?", ['get_weather', { city: 'Oslo' }]],
  ['Transfer $250 from savings to Alice', ['transfer_money', { amount: 250, from: 'savings', to: 'Alice' }]],
  ['Convert 100 USD to EUR', ['convert_currency', { amount: 100, from: 'USD', to: 'EUR' }]],
  // choices and booleans
  ["What's the weather in Oslo, in fahrenheit?", ['get_weather', { city: 'Oslo', units: 'fahrenheit' }]],
  ['Turn on the kitchen light', ['set_light', { room: 'kitchen', on: true }]],
  ['Turn off the lights in the living room', ['set_light', { room: 'living_room', on: false }]],
  ['Lock the front door', ['lock_door', { door: 'front', locked: true }]],
  // numbers, dates and ids
  ['Multiply 12 by 7', ['calculate', { operation: 'multiply', a: 12, b: 7 }]],
  ['Set the thermostat to 21.5 degrees', ['set_thermostat', { degrees: 21.5 }]],
  ['Set a timer for 10 seconds', ['set_timer', { seconds: 10 }]],
  ['Mark task 7 as done', ['complete_todo', { id: 7 }]],
  ['What is the forecast for Paris tomorrow?', ['get_forecast', { city: 'Paris', date: '2025-03-13' }]],
  ['Show my events for 2026-03-03', ['list_events', { date: '2026-03-03' }]],
  ['Where is my order ORD-123?', ['find_order', { order_id: 'ORD-123' }]],
  ["What's the status of order #4711?", ['find_order', { order_id: '4711' }]],
  ["I'd like to cancel order ORD-9, please", ['cancel_order', { order_id: 'ORD-9' }]],
  // texts
  ['Search the web for cheap flights to Lima', ['web_search', { query: 'cheap flights to Lima' }]],
  ['Translate "good morning" into French', ['translate', { text: 'good morning', target_language: 'French' }]],
  ['Add a task: file the taxes', ['add_todo', { task: 'file the taxes' }]],
  [
    'Create a contact Grace Hopper, grace@example.com',
    ['create_contact', { name: 'Grace Hopper', email: 'grace@example.com' }],
  ],
  [
    'Send an email to ann@example.com with subject "Hello" and body "How are you?"',
    ['send_email', { to: 'ann@example.com', subject: 'Hello', body: 'How are you?' }],
  ],
  // several calls
  ["What's the weather in Oslo and in Lima?", ['get_weather', { city: 'Oslo' }], ['get_weather', { city: 'Lima' }]],
  [
    'Turn off the kitchen light, then lock the garage door and set a timer for 180 seconds',
    ['set_light', { room: 'kitchen', on: false }],
    ['lock_door', { door: 'garage', locked: true }],
    ['set_timer', { seconds: 180 }],
  ],
]

test.each(table.map(([sentence, ...calls]) => ({ sentence, calls })))(
  'the offline model calls the right tools for: $sentence',
  async ({ sentence, calls }) => {
    expect(await callsFor({ tools, messages: sentence })).toEqual(calls)
  },
)

const refund = declare('refund', 'Refund money for an order', {
  orderId: { type: 'string' },
  amount: { type: 'number' },
})

test('the offline model takes a value that its clause does not name from the whole message', async () => {
  const messages = 'Refund orders A-7 and A-8, 500 EUR each.'
  expect(await callsFor({ tools: [refund], messages })).toEqual([
    ['refund', { orderId: 'A-7', amount: 500 }],
    ['refund', { orderId: 'A-8', amount: 500 }],
  ])
})

test.each([
  ['What is the weather?', 'Please tell me the city.'],
  ['Cancel my order', 'Please tell me the order id.'],
  ['Delete everything', 'Please tell me the path.'],
])('the offline model asks for a missing argument of: %s', async (sentence, question) => {
  expect(await textFor({ tools, messages: sentence })).toBe(question)
})

test('the offline model takes no amount of money for the id of an order', async () => {
  expect(await textFor({ tools: [refund], messages: 'Refund 500 EUR.' })).toBe('Please tell me the order id.')
})

test.each(['Where is my order ORD-7?', 'Tell me about order ORD-7'])(
  'the offline model deletes, cancels and refunds nothing after "%s"',
  async (messages) => {
    const destructive = tools.filter(({ name }) => /^(?:delete|cancel)/.test(name))
    expect(await callsFor({ tools: [...destructive, refund], messages })).toEqual([])
  },
)

const reply = { role: 'model', parts: [{ text: 'Done.' }] } as const
const question = { role: 'model', parts: [{ text: 'Please tell me the city.' }] } as const

test('the offline model continues the message before with "and", "what about" and "once more"', async () => {
  const after = (message: string) => callsFor({ tools, messages: [user('Weather in Oslo?'), reply, user(message)] })
  expect(await after('And in Lima?')).toEqual([['get_weather', { city: 'Lima' }]])
  expect(await after('What about Lima and Cairo?')).toEqual([
    ['get_weather', { city: 'Lima' }],
    ['get_weather', { city: 'Cairo' }],
  ])
  expect(await after('Once more.')).toEqual([['get_weather', { city: 'Oslo' }]])
  expect(await after('Sing something.')).toEqual([])
})

test('the offline model reads the answer to its question', async () => {
  const messages = [user('What is the weather?'), question, user('Lima')]
  expect(await callsFor({ tools, messages })).toEqual([['get_weather', { city: 'Lima' }]])
})

test.each(['Tell me a joke', 'Who was the first president of France?', '', '…'])(
  'the offline model describes its tools when none matches %j',
  async (sentence) => {
    const text = await textFor({ tools, messages: sentence })
    expect(text).toMatch(/^Sorry, I did not understand that\. I am Toolwright's offline model: rules instead of /)
    expect(text).toContain('I can get the current weather in a city, get the weather forecast for a day to come, ')
  },
)

test.each([
  ['Hello!', /^Hello! I can get the current weather in a city, /],
  ['hi there', /^Hello! /],
  ['Thanks a lot!', /^You're welcome!$/],
])('the offline model answers %j like a person', async (sentence, answer) => {
  expect(await textFor({ tools, messages: sentence })).toMatch(answer)
})
