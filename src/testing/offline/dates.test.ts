import { expect, test } from 'vitest'
import { wednesday } from './asking.test-kit.ts'
import { datesIn, dayOf } from './dates.ts'

const today = dayOf(wednesday().getTime())

test.each([
  ['on 2025-04-01', '2025-04-01'],
  ['today', '2025-03-12'],
  ['Tomorrow', '2025-03-13'],
  ['yesterday', '2025-03-11'],
  ['the day after tomorrow', '2025-03-14'],
  ['the day before yesterday', '2025-03-10'],
  ['on Friday', '2025-03-14'],
  ['on Wednesday', '2025-03-19'], // after today
  ['next Monday', '2025-03-17'],
  ['this Saturday', '2025-03-15'],
  ['last Monday', '2025-03-10'],
  ['last Wednesday', '2025-03-05'],
  ['in 3 days', '2025-03-15'],
  ['in two weeks', '2025-03-26'],
  ['in a month', '2025-04-12'],
  ['a week from now', '2025-03-19'],
  ['3 days ago', '2025-03-09'],
  ['next week', '2025-03-19'],
  ['last year', '2024-03-12'],
  ['this weekend', '2025-03-15'],
  ['March 20th', '2025-03-20'],
  ['March 3rd', '2026-03-03'], // this year's is over
  ['Mar 12', '2025-03-12'],
  ['March 3, 2024', '2024-03-03'],
  ['3 March 2024', '2024-03-03'],
  ['the 3rd of May', '2025-05-03'],
  ['29 February', '2028-02-29'], // the next year that has one
  ['3.4.2025', '2025-04-03'],
  ['3/4/2025', '2025-03-04'],
  ['31/12/2025', '2025-12-31'],
  ['on the 5th', '2025-04-05'],
])('%s is %s', (text, date) => {
  expect(datesIn(`Please do it ${text}.`, today).map(({ value }) => value)).toContain(date)
})

test('the end of a month is not run over', () => {
  const january = Date.UTC(2025, 0, 31)
  expect(datesIn('in a month', january)[0]?.value).toBe('2025-02-28')
})

test.each(['2025-02-30', '31 June', 'May I?', 'the 3rd item', '45/45/2025', 'mayor 3'])('%s is no date', (text) =>
  expect(datesIn(text, today)).toEqual([]),
)
