import { expect, test } from 'vitest'
import { numbersIn } from './numbers.ts'
import { stem } from './words.ts'

test.each([
  ['42', 42],
  ['-3.5', -3.5],
  ['−7', -7], // a typographic minus
  ['1,234,567.89', 1_234_567.89],
  ['$40', 40],
  ['-€5', -5],
  ['20%', 20],
  ['12 km', 12],
  ['12km', 12],
  ['5k', 5_000],
  ['3 million', 3_000_000],
  ['seven', 7],
  ['Twenty', 20],
  ['twenty-five', 25],
  ['minus two', -2],
  ['a dozen', 12],
  ['half an hour', 0.5],
  ['an hour', 1],
])('%s is %d', (text, value) => expect(numbersIn(`take ${text} now`).map((one) => one.value)).toEqual([value]))

test.each([
  ['ORD-123', []],
  ['v2', []],
  ['3rd', []],
  ['10:30', []],
  ['1/2/2025', []],
  ['none of them', []],
  ['someone', []],
  ['1, 2 and 3', [1, 2, 3]],
  ['5-3', [5]],
])('in "%s" there are the numbers %j', (text, values) =>
  expect(numbersIn(text).map((one) => one.value)).toEqual(values),
)

test('what is counted is known', () => {
  const units = numbersIn('4 people, 20%, 21°, £3, 5 minutes, 7 of them').map(({ unit }) => unit)
  expect(units).toEqual([...['people', 'percent', 'degrees', 'money', 'minutes'].map(stem), undefined])
})
