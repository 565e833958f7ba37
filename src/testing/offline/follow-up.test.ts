// Messages that depend on earlier messages.
import { expect, test } from 'vitest'
import type { JsonObject } from '../../base/json.ts'
import { callsFor, textFor, user } from './offline-request.test-kit.ts'
import { toolbox } from './toolbox.test-kit.ts'

const tools = toolbox.flatMap((tool) => tool.declaration() ?? [])
const reply = { role: 'model', parts: [{ text: 'Done.' }] } as const

/** A conversation with these user messages. */
function talk(...messages: string[]) {
  return messages.flatMap((message, at) => (at < messages.length - 1 ? [user(message), reply] : [user(message)]))
}

test.each<[messages: string[], ...calls: [name: string, args: JsonObject][]]>([
  [
    ['Weather in Oslo?', 'And in Lima?'],
    ['get_weather', { city: 'Lima' }],
  ],
  [
    ['Weather in Oslo?', 'And in Lima and Cairo?'],
    ['get_weather', { city: 'Lima' }],
    ['get_weather', { city: 'Cairo' }],
  ],
  [
    ['Forecast for Oslo tomorrow', 'And in Lima?', 'What about Friday?'],
    ['get_forecast', { city: 'Lima', date: '2025-03-14' }],
  ],
  [
    ['Translate good morning to French', 'And to Spanish?'],
    ['translate', { text: 'good morning', target_language: 'Spanish' }],
  ],
  [
    ['Turn on the kitchen light', 'And the hall'],
    ['set_light', { room: 'hall', on: true }],
  ],
  [
    ['Weather in Oslo?', 'Once more.'],
    ['get_weather', { city: 'Oslo' }],
  ],
  [
    ['Weather in Oslo?', 'And in Lima?', 'Again please'],
    ['get_weather', { city: 'Lima' }],
  ],
  [
    ['Weather in Oslo and Lima?', 'And in fahrenheit?'],
    ['get_weather', { city: 'Oslo', units: 'fahrenheit' }],
    ['get_weather', { city: 'Lima', units: 'fahrenheit' }],
  ],
  [
    ['Weather in Oslo?', 'Lima vs Cairo'],
    ['get_weather', { city: 'Lima' }],
    ['get_weather', { city: 'Cairo' }],
  ],
  // answers to a question of the model
  [
    ['What is the weather?', 'Lima'],
    ['get_weather', { city: 'Lima' }],
  ],
  [
    ['What is the weather?', 'in lima'],
    ['get_weather', { city: 'Lima' }],
  ],
  [
    ['Cancel my order', 'ORD-7'],
    ['cancel_order', { order_id: 'ORD-7' }],
  ],
  [
    ['Flights from Oslo to Lima', 'next Monday'],
    ['search_flights', { from: 'Oslo', to: 'Lima', date: '2025-03-17' }],
  ],
  [
    ['Transfer 50 dollars to Carol', 'from savings'],
    ['transfer_money', { amount: 50, from: 'savings', to: 'Carol' }],
  ],
  // an independent message
  [
    ['Weather in Oslo?', 'And add 2 and 3'],
    ['calculate', { operation: 'add', a: 2, b: 3 }],
  ],
])('the offline model understands the last of %j', async (messages, ...calls) => {
  expect(await callsFor({ tools, messages: talk(...messages) })).toEqual(calls)
})

test.each([
  [['Weather in Oslo?', 'Thanks a lot!'], "You're welcome!"],
  [['Add milk to my to-do list', 'Great job'], 'All right.'],
  [['What is the weather?', 'Hello'], 'Hello!'],
  [['What is the weather in Oslo?', 'Sing something.'], 'Sorry, I did not understand that.'],
  [['Hello', 'And you?'], 'Sorry, I did not understand that.'],
  [['Again'], 'Sorry, I did not understand that.'],
])('the offline model calls nothing after %j', async (messages, answer) => {
  expect(await textFor({ tools, messages: talk(...messages) })).toContain(answer)
})
