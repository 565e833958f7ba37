// Calls that need the results of other calls.
import { expect, test } from 'vitest'
import { callsFor, declare, exchange, generateParts, textFor, user } from './offline-request.test-kit.ts'

const string = { type: 'string' }
const weather = declare('get_weather', 'Get the temperature in a city, in degrees Celsius', { city: string })
const convert = declare('convert', 'Convert degrees Celsius to Fahrenheit', { celsius: { type: 'number' } })
const flights = declare('search_flights', 'Find flights to a city', { to: { ...string, description: 'city' } })
const book = declare('book_flight', 'Book a flight', { flight_id: string })
const orders = declare('list_orders', 'List the orders of the customer')
const cancel = declare('cancel_order', 'Cancel an order', { order_id: string })
const email = declare('send_email', 'Send an e-mail', {
  to: { ...string, format: 'email' },
  subject: string,
  body: string,
})
const tools = [weather, convert, flights, book, orders, cancel, email]

const warm = user('How warm is it in Cairo in Fahrenheit?')
const found = exchange('get_weather', { city: 'Cairo' }, { city: 'Cairo', celsius: 31 })

test('the offline model looks up degrees, converts them and answers', async () => {
  expect(await callsFor({ tools, messages: [warm] })).toEqual([['get_weather', { city: 'Cairo' }]])
  expect(await callsFor({ tools, messages: [warm, ...found] })).toEqual([['convert', { celsius: 31 }]])
  const converted = exchange('convert', { celsius: 31 }, { fahrenheit: 88 }, 'call-2')
  expect(await textFor({ tools, messages: [warm, ...found, ...converted] })).toBe('It is 88 °F in Cairo.')
})

test('the offline model converts nothing without a request', async () => {
  const messages = [user('How warm is it in Cairo?'), ...found]
  expect(await textFor({ tools, messages })).toBe('It is 31 °C in Cairo.')
})

test('the offline model converts the results of two lookups', async () => {
  const messages = [
    user('How warm is it in Cairo and in Oslo in Fahrenheit?'),
    ...found,
    ...exchange('get_weather', { city: 'Oslo' }, { city: 'Oslo', celsius: -3 }, 'call-2'),
  ]
  expect(await callsFor({ tools, messages })).toEqual([
    ['convert', { celsius: 31 }],
    ['convert', { celsius: -3 }],
  ])
})

test('the offline model never passes a found value to a destructive tool', async () => {
  expect(await textFor({ tools, messages: 'Cancel my order' })).toBe('Please tell me the order id.')
})

test('the offline model stops after a failure and reports it', async () => {
  const failed = exchange(
    'get_weather',
    { city: 'Cairo' },
    { error: 'Nobody measures in Cairo.', errorCode: 'NOT_FOUND' },
  )
  expect(await generateParts({ tools, messages: [warm, ...failed] })).toEqual([
    { text: 'That did not work: Nobody measures in Cairo.' },
  ])
})

test('the offline model reports results and missing arguments together', async () => {
  const asked = user('List my orders and book it')
  const listed = exchange('list_orders', {}, { orders: ['A-1'] })
  expect(await textFor({ tools, messages: [asked, ...listed] })).toBe('Orders: A-1. Please tell me the flight id.')
})

test('the offline model never repeats a call in a turn', async () => {
  const messages = [user('What is the weather in Oslo? And the weather in Oslo?')]
  expect(await callsFor({ tools, messages })).toEqual([['get_weather', { city: 'Oslo' }]])
  const answered = exchange('get_weather', { city: 'Oslo' }, { city: 'Oslo', celsius: -3 })
  expect(await callsFor({ tools, messages: [...messages, ...answered] })).toEqual([])
})

test('the offline model ends a turn whatever the tools return', async () => {
  const endless = Array.from({ length: 10 }, (_, at) =>
    exchange('convert', { celsius: at }, { celsius: at + 1 }, `call-${at}`),
  )
  const parts = await generateParts({ tools, messages: [warm, ...endless.flat()] })
  expect(parts[0]?.functionCall).toBeUndefined()
})
