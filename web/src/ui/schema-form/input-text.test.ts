import { expect, test } from 'vitest'
import { fromInput, toInput } from './input-text.ts'

test('a time is shown in the time zone of the browser and sent in UTC', () => {
  for (const sent of ['2030-01-31T12:00:00Z', '2030-07-01T00:30:15Z']) {
    const shown = toInput('datetime-local', sent) ?? ''
    expect(shown).toMatch(/^2030-\d\d-\d\dT\d\d:\d\d(:15)?$/)
    expect(fromInput('datetime-local', shown)).toBe(sent)
  }
  expect([toInput('datetime-local', ''), fromInput('datetime-local', '')]).toEqual(['', ''])
})

test('a text that an input of its format cannot show is shown as text', () => {
  expect([toInput('date', 'tomorrow'), toInput('time', 'noon'), toInput('datetime-local', 'soon')]).toEqual(
    Array(3).fill(undefined),
  )
  expect([toInput('date', '2030-01-31'), toInput('time', '12:30'), toInput('email', 'ada')]).toEqual([
    '2030-01-31',
    '12:30',
    'ada',
  ])
})
