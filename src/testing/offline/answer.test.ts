import { expect, test } from 'vitest'
import type { JsonObject } from '../../base/json.ts'
import { answerFrom } from './answer.ts'

function said(response: JsonObject, args: JsonObject = {}): string {
  return answerFrom([{ name: 'do_it', args, response }])
}

test.each<[words: string, response: JsonObject, args?: JsonObject]>([
  ['It is -3 °C in Oslo.', { city: 'Oslo', celsius: -3 }],
  ['It is 72 °F in Lima; sky clear.', { city: 'Lima', temperature: 72, units: 'fahrenheit', sky: 'clear' }],
  ['It is 20° in Rome.', { place: 'Rome', temperature: 20 }],
  ['It is in Hamburg.', { id: 7, place: 'Hamburg' }, { id: 7 }],
  [
    'The status is shipped and the total is 40 EUR.',
    { id: 'A-1', status: 'shipped', total: 40, currency: 'EUR' },
    { id: 'A-1' },
  ],
  ['The price is 5 USD, the weight is 2 kg and the humidity is 40%.', { price_usd: 5, weightKg: 2, humidity: 40 }],
  ['It is booked.', { flight: 'SK1', booked: true }, { flight: 'SK1' }],
  ['It is not available.', { available: false }],
  ['Gift wrap: yes.', { gift_wrap: true }],
  ['The tags are a, b and c.', { tags: ['a', 'b', 'c'] }],
  ['The tags are none.', { tags: [] }],
  [
    'The users are Ada (age 36); Bob (age 40).',
    {
      users: [
        { name: 'Ada', age: 36 },
        { name: 'Bob', age: 40 },
      ],
    },
  ],
  ['The owner is Ada (address city Oslo, zip 150).', { owner: { name: 'Ada', address: { city: 'Oslo', zip: 150 } } }],
  ['The sum is 7.', { sum: 7 }],
  ['42.', { result: 42 }],
  ['Bonjour.', { result: 'bonjour' }],
  ['Is it?', { text: 'Is it?' }],
  ['Done.', { result: null }],
  ['Done.', { status: 'ok' }],
  ['Done.', {}],
  ['Done: id 7.', { id: 7 }, { id: 7 }],
  ['That did not work: Nobody measures there.', { error: 'Nobody measures there.', errorCode: 'NOT_FOUND' }],
  ['That did not work: quota used up.', { error: { message: 'quota used up', code: 8 } }],
  ['That was not done: The user denied the call.', { error: 'The user denied the call.' }],
  [
    'It is not known whether do_it took effect: timed out.',
    { status: 'unknown_outcome', error: 'timed out', errorCode: 'UNKNOWN_OUTCOME' },
  ],
  ['do_it is under way (ticket T-1).', { status: 'pending', ticket: 'T-1' }],
  ['do_it is under way (tool do_it).', { status: 'running', tool: 'do_it' }],
])('%s', (words, response, args) => expect(said(response, args)).toBe(words))

test('several results say what each is about', () => {
  const results = [1, 2].map((id) => ({ name: 'find', args: { id }, response: { id, name: `N${id}` } }))
  expect(answerFrom(results)).toBe('Id 1: the name is N1. Id 2: the name is N2.')
})

test('a result that was made from another one takes its place', () => {
  const results = [
    { name: 'get_weather', args: { city: 'Cairo' }, response: { city: 'Cairo', celsius: 31 } },
    { name: 'convert', args: { celsius: 31 }, response: { fahrenheit: 88 } },
  ]
  expect(answerFrom(results)).toBe('It is 88 °F in Cairo.')
})

test('a result made from another one that failed leaves the first as it was', () => {
  const results = [
    { name: 'get_weather', args: { city: 'Cairo' }, response: { city: 'Cairo', celsius: 31 } },
    { name: 'convert', args: { celsius: 31 }, response: { error: 'Too hot.' } },
  ]
  expect(answerFrom(results)).toBe('It is 31 °C in Cairo. That did not work: Too hot.')
})

test('long lists, long texts and deep objects are cut', () => {
  const numbers = Array.from({ length: 30 }, (_, at) => at)
  expect(said({ numbers })).toBe('The numbers are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more.')
  expect(said({ result: 'x'.repeat(10_000) })).toHaveLength(2_001)
  expect(said({ a: { b: { c: { d: { e: 1 } } } } })).toBe('The a is b c d …')
})

test('keys with hostile names are keys', () => {
  expect(said(JSON.parse('{"__proto__": 1, "constructor": "x"}'))).toBe('The proto is 1 and the constructor is x.')
})
