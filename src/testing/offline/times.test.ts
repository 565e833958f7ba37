import { expect, test } from 'vitest'
import { momentsIn, timesIn } from './times.ts'

test.each([
  ['5pm', '17:00'],
  ['5:30 pm', '17:30'],
  ['12am', '00:00'],
  ['12 p.m.', '12:00'],
  ['at 09:05', '09:05'],
  ['23:59', '23:59'],
  ["7 o'clock", '07:00'],
  ['noon', '12:00'],
  ['midnight', '00:00'],
])('%s is %s', (text, time) => expect(timesIn(text).map(({ value }) => value)).toEqual([time]))

test.each(['25:00', '13pm', '5 pmx', '1:2', '10:99', 'spam'])('%s is no time', (text) =>
  expect(timesIn(text)).toEqual([]),
)

test.each([
  ['2025-03-03T15:00', '2025-03-03T15:00:00Z'],
  ['2025-03-03 15:00:30', '2025-03-03T15:00:30Z'],
  ['2025-03-03T15:00:00+02:00', '2025-03-03T15:00:00+02:00'],
])('%s is the moment %s', (text, moment) => expect(momentsIn(text).map(({ value }) => value)).toEqual([moment]))

test('a moment that does not exist is none', () => expect(momentsIn('2025-13-03T15:00')).toEqual([]))
