import type { Mention } from './mention.ts'
import { numberWords } from './numbers.ts'

const DAY = 86_400_000

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
const weekday = '(sun|mon|tues|wednes|thurs|fri|satur)days?'
const month =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const nth = '(\\d{1,2})(?:st|nd|rd|th)?'
const count = `(\\d{1,4}|an?|${[...numberWords.keys()].join('|')})`

type Reading = readonly [pattern: RegExp, read: (found: readonly string[], today: number) => number | undefined]

const readings: readonly Reading[] = [
  [pattern('(\\d{4})-(\\d{2})-(\\d{2})'), ([, y, m, d]) => day(Number(y), Number(m), Number(d))],
  [pattern('(?:the )?day after tomorrow'), (_, today) => today + 2 * DAY],
  [pattern('(?:the )?day before yesterday'), (_, today) => today - 2 * DAY],
  [
    pattern('(today|tonight|tomorrow|yesterday)'),
    ([, word], today) => today + (word === 'tomorrow' ? DAY : word === 'yesterday' ? -DAY : 0),
  ],
  [pattern(`(next|last|this|coming)? ?${weekday}`), ([, which, start], today) => onWeekday(today, start, which)],
  [
    pattern(`(?:in ${count} (day|week|month|year)s?|${count} (day|week|month|year)s? from (?:now|today))`),
    ([, n, unit, other, otherUnit], today) => later(today, amount(n ?? other), unit ?? otherUnit),
  ],
  [pattern(`${count} (day|week|month|year)s? ago`), ([, n, unit], today) => later(today, -amount(n), unit)],
  [pattern('(next|last) (week|month|year)'), ([, which, unit], today) => later(today, which === 'next' ? 1 : -1, unit)],
  [pattern('(?:this|the|next) weekend'), (_, today) => onWeekday(today, 'satur', undefined)],
  [pattern(`${month}\\.? (?:the )?${nth},? (\\d{4})`), ([, m, d, y]) => day(Number(y), monthOf(m), Number(d))],
  [pattern(`(?:the )?${nth} (?:of )?${month}\\.?,? (\\d{4})`), ([, d, m, y]) => day(Number(y), monthOf(m), Number(d))],
  [pattern(`${month}\\.? (?:the )?${nth}`), ([, m, d], today) => nextDay(today, monthOf(m), Number(d))],
  [pattern(`(?:the )?${nth} (?:of )?${month}`), ([, d, m], today) => nextDay(today, monthOf(m), Number(d))],
  [pattern('(\\d{1,2})\\.(\\d{1,2})\\.(\\d{4})'), ([, d, m, y]) => day(Number(y), Number(m), Number(d))],
  [pattern('(\\d{1,2})/(\\d{1,2})/(\\d{4})'), ([, m, d, y]) => monthFirst(Number(y), Number(m), Number(d))],
  [pattern('(?<=(?:on|by|until) )the (\\d{1,2})(?:st|nd|rd|th)'), ([, d], today) => nextNth(today, Number(d))],
]

/** Dates as people write them, as `YYYY-MM-DD`. A date without a year is the next one; a weekday is after today. */
export function datesIn(text: string, today: number): Mention[] {
  const found: Mention[] = []
  for (const [pattern, read] of readings) {
    for (const match of text.matchAll(pattern)) {
      const lower = [...match].map((group) => group?.toLowerCase()) as string[]
      const date = read(lower, today)
      if (date === undefined) continue
      const lead = match[0].length - match[0].trimStart().length
      const start = match.index + lead
      found.push({ kind: 'date', value: isoDate(date), start, end: match.index + match[0].length })
    }
  }
  return found
}

/** Midnight (UTC) of a moment's day. */
export function dayOf(moment: number): number {
  return Math.floor(moment / DAY) * DAY
}

export function isoDate(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}

function pattern(source: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}-])${source}(?![\\p{L}\\p{N}])`, 'giu')
}

/** A day that exists. */
function day(year: number, month: number, date: number): number | undefined {
  const moment = Date.UTC(year, month - 1, date)
  const made = new Date(moment)
  return made.getUTCMonth() === month - 1 && made.getUTCDate() === date && year > 1000 ? moment : undefined
}

/** As in the United States, unless that cannot be. */
function monthFirst(year: number, month: number, date: number): number | undefined {
  return month > 12 ? day(year, date, month) : day(year, month, date)
}

function onWeekday(today: number, start: string | undefined, which: string | undefined): number {
  const wanted = weekdays.indexOf(`${start}day`)
  const ahead = (wanted - new Date(today).getUTCDay() + 7) % 7 || 7
  return today + (which === 'last' ? ahead - 7 || -7 : ahead) * DAY
}

function later(today: number, n: number, unit: string | undefined): number {
  if (unit === 'day' || unit === 'week') return today + n * (unit === 'week' ? 7 : 1) * DAY
  const date = new Date(today)
  const wanted = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + n * (unit === 'year' ? 12 : 1))
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return date.setUTCDate(Math.min(wanted, last))
}

function amount(text: string | undefined): number {
  return text === 'a' || text === 'an' ? 1 : (numberWords.get(text ?? '') ?? Number(text))
}

function monthOf(text: string | undefined): number {
  return months.findIndex((name) => name.startsWith((text ?? '').slice(0, 3))) + 1
}

function nextDay(today: number, month: number, date: number): number | undefined {
  const year = new Date(today).getUTCFullYear()
  const years = [year, year + 1, year + 2, year + 3, year + 4] // the 29th of February is not in every one
  return years.map((each) => day(each, month, date)).find((found) => found !== undefined && found >= today)
}

function nextNth(today: number, date: number): number | undefined {
  const now = new Date(today)
  for (let ahead = 0; ahead < 3; ahead++) {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))
    const found = day(first.getUTCFullYear(), first.getUTCMonth() + 1, date)
    if (found !== undefined && found >= today) return found
  }
  return undefined
}
