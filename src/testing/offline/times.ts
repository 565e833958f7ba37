import type { Mention } from './mention.ts'

const moment = /\b(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?(?![\d:])/g
const clock = /(?<![\d:.-])(\d{1,2})(?::(\d{2}))?(?::\d{2})? ?([ap])\.?m\b\.?|(?<![\d:.-])(\d{1,2}):(\d{2})(?![\d:])/gi
const oClock = /\b(\d{1,2}) o['’]clock\b/gi
const word = /\b(?:noon|midday|midnight)\b/gi

/** Moments written in full (ISO 8601). */
export function momentsIn(text: string): Mention[] {
  const found: Mention[] = []
  for (const { 0: whole, 1: date, 2: time, 3: seconds = ':00', 4: zone = 'Z', index } of text.matchAll(moment)) {
    const value = `${date}T${time}${seconds}${zone}`
    if (Number.isNaN(Date.parse(value))) continue
    found.push({ kind: 'datetime', value, start: index, end: index + whole.length })
  }
  return found
}

/** Times of day, as `HH:mm`. */
export function timesIn(text: string): Mention[] {
  const found: Mention[] = []
  const add = (hours: number, minutes: number, { 0: whole, index }: RegExpExecArray): void => {
    const value = timeOfDay(hours, minutes)
    if (value !== undefined) found.push({ kind: 'time', value, start: index, end: index + whole.trimEnd().length })
  }
  for (const match of text.matchAll(clock)) {
    const [, hour, minutes = '0', half, hour24, minutes24] = match
    if (half === undefined) add(Number(hour24), Number(minutes24), match)
    else if (Number(hour) <= 12)
      add((Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0), Number(minutes), match)
  }
  for (const match of text.matchAll(oClock)) add(Number(match[1]), 0, match)
  for (const match of text.matchAll(word)) add(match[0].toLowerCase() === 'midnight' ? 0 : 12, 0, match)
  return found
}

/** Undefined when there is no such time. */
export function timeOfDay(hours: number, minutes: number): string | undefined {
  if (hours > 23 || minutes > 59 || !Number.isInteger(hours) || hours < 0) return undefined
  return `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
}
