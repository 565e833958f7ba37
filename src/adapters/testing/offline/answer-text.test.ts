import { expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { answerText } from './answer-text.ts'

function describeResult(response: JsonObject, args: JsonObject = {}): string {
  return answerText([{ name: 'do_it', args, response }])
}

test.each<[words: string, response: JsonObject, args?: JsonObject]>([
  // sentences
  ['It is -3 °C in Oslo.', { city: 'Oslo', celsius: -3 }],
  ['It is 72 °F in Lima, sky: clear.', { city: 'Lima', temperature: 72, units: 'fahrenheit', sky: 'clear' }],
  ['It is 20° in Rome.', { place: 'Rome', temperature: 20 }],
  ['It is in Hamburg.', { id: 7, place: 'Hamburg' }, { id: 7 }],
  ['Booked (flight: SK1).', { flight: 'SK1', booked: true }, { flight: 'SK1' }],
  ['Not available.', { available: false }],
  ['Booked.', { status: 'booked' }],
  ['It is 42.', { result: 42 }],
  // texts unchanged
  ['bonjour', { result: 'bonjour' }],
  ['Is it?', { text: 'Is it?' }],
  // lists
  ['Refunded: 500.', { refunded: 500 }],
  ['Sum: 7.', { sum: 7 }],
  ['A-1 (status: shipped, total: 40 EUR).', { id: 'A-1', status: 'shipped', total: 40, currency: 'EUR' }],
  ['Gift wrap: yes.', { gift_wrap: true }],
  ['Tags: a, b and c.', { tags: ['a', 'b', 'c'] }],
  ['Tags: none.', { tags: [] }],
  ['Result: 1 and 2.', { result: [1, 2] }],
  [
    'Users:\n- Ada (age: 36)\n- 7 (age: 40)',
    {
      users: [
        { name: 'Ada', age: 36 },
        { id: 7, age: 40 },
      ],
    },
  ],
  ['Owner: Ada (address: (city: Oslo, zip: 150)).', { owner: { name: 'Ada', address: { city: 'Oslo', zip: 150 } } }],
  // no information
  ['Done.', { result: null }],
  ['Done.', { status: 'ok' }],
  ['Done.', {}],
  ['Done (id: 7).', { id: 7 }, { id: 7 }],
  // failures and pending work
  ['That did not work: Nobody measures there.', { error: 'Nobody measures there.', errorCode: 'NOT_FOUND' }],
  ['That did not work: quota used up.', { error: { message: 'quota used up', code: 8 } }],
  ['That was not done: No.', { error: 'No.', errorCode: 'CANCELLED' }],
  [
    'It is not known whether do it took effect: timed out.',
    { status: 'unknown_outcome', error: 'timed out', errorCode: 'UNKNOWN_OUTCOME' },
  ],
  ['That is under way (ticket: T-1).', { status: 'pending', ticket: 'T-1' }],
])('the offline model describes a result as: %s', (words, response, args) =>
  expect(describeResult(response, args)).toBe(words),
)

test('the offline model describes several results with their subjects', () => {
  const results = [1, 2].map((id) => ({ name: 'find', args: { id }, response: { id, name: `N${id}` } }))
  expect(answerText(results)).toBe('N1 (id: 1).\nN2 (id: 2).')
})

test('the offline model describes a derived result instead of the result it was made from', () => {
  const results = [
    { name: 'get_weather', args: { city: 'Cairo' }, response: { city: 'Cairo', celsius: 31 } },
    { name: 'convert', args: { celsius: 31 }, response: { fahrenheit: 88 } },
  ]
  expect(answerText(results)).toBe('It is 88 °F in Cairo.')
})

test('the offline model describes the original result when the derived result failed', () => {
  const results = [
    { name: 'get_weather', args: { city: 'Cairo' }, response: { city: 'Cairo', celsius: 31 } },
    { name: 'convert', args: { celsius: 31 }, response: { error: 'Too hot.' } },
  ]
  expect(answerText(results)).toBe('It is 31 °C in Cairo. That did not work: Too hot.')
})

test('the offline model truncates long lists, long texts and deep objects in an answer', () => {
  const numbers = Array.from({ length: 30 }, (_, at) => at)
  expect(describeResult({ numbers })).toBe('Numbers: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more.')
  expect(describeResult({ result: 'x'.repeat(10_000) })).toHaveLength(2_001)
  expect(describeResult({ a: { b: { c: { d: { e: 1 } } } } })).toBe('A: b: c: (d: …)')
})

test('the offline model describes hostile keys of a result as plain data', () => {
  expect(describeResult(JSON.parse('{"__proto__": 1, "constructor": "x"}'))).toBe('Proto: 1, constructor: x.')
})
