import { expect, test } from 'vitest'
import { formatError, formatFullCall, formatResult, formatValue } from './tool-text.ts'

test.each([
  [{ city: 'Oslo', days: 3 }, 'city: Oslo, days: 3'],
  [{ note: 'a, b: c' }, 'note: "a, b: c"'],
  [{ zip: '0150', yes: 'true', none: '' }, 'zip: "0150", yes: "true", none: ""'],
  [{ text: 'two\nlines' }, 'text: "two\\nlines"'],
  [{ list: [1, { a: 2 }], no: null }, 'list: [1,{"a":2}], no: null'],
  [{}, ''],
  ['  40 % done\n', '40 % done'],
  [7, '7'],
  [undefined, 'undefined'],
])('formatValue(%j) is %j', (value, text) => expect(formatValue(value)).toBe(text))

test('control characters in names and values of tools are escaped', () => {
  const evil = '\x1b[2J\u202e\r\n'
  for (const text of [formatValue({ [evil]: evil, list: [evil] }), formatValue(evil), formatValue([evil])]) {
    expect(text).not.toMatch(/[\p{Cc}\u202e]/u)
  }
  expect(formatFullCall(evil, { [evil]: evil }, { [evil]: evil }).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
})

test('a response with a single result is shown without its name', () => {
  expect(formatResult({ result: 'done' })).toBe('done')
  expect(formatResult({ result: { a: 1 } })).toBe('a: 1')
  expect(formatResult({ result: 1, more: 2 })).toBe('result: 1, more: 2')
})

test('an error response is shown as message and code; a non-string error member is data', () => {
  expect(formatError({ error: 'No such city.', errorCode: 'NOT_FOUND' })).toBe('No such city. (NOT_FOUND)')
  expect(formatError({ error: 'No.' })).toBe('No.')
  expect(formatError({ error: null, value: 1 })).toBeUndefined()
  expect(formatError({ error: 0.2 })).toBeUndefined()
})
