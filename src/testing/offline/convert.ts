// A mention as the value a parameter takes.
import { isoDate } from './dates.ts'
import { secondsIn } from './durations.ts'
import { languageCode } from './lexicon.ts'
import type { Parameter } from './parameters.ts'
import type { Passage, Placed, Taken } from './passage.ts'
import { timeOfDay } from './times.ts'
import { stem } from './words.ts'

export function converted(parameter: Parameter, mention: Placed, passage: Passage, taken: Taken, now: number): unknown {
  const { kind, schema } = parameter
  const text = String(mention.value)
  switch (kind) {
    case 'number':
      return inUnitOf(parameter, mention)
    case 'date':
      return text.slice(0, 10)
    case 'time':
      return timeFor(parameter, mention)
    case 'datetime':
      return momentFor(mention, passage, taken, now)
    case 'id':
    case 'phone':
      return mention.kind === 'number' ? passage.text.slice(mention.start, mention.end) : text
    case 'language':
      return wantsCode(parameter) ? (languageCode(text) ?? text) : text
    case 'url':
      return schema.format && text.startsWith('www.') ? `https://${text}` : text
    case 'place':
      return mention.kind === 'phrase' ? capitalised(text) : text
    default:
      return text
  }
}

/** "2 hours" for a parameter in minutes is 120. */
function inUnitOf({ words, about }: Parameter, { value, unit }: Placed): unknown {
  const given = secondsIn(unit)
  const wanted = [...words, ...about].map(secondsIn).find((size) => size !== undefined)
  if (typeof value !== 'number' || given === undefined || wanted === undefined) return value
  return (value * given) / wanted
}

function timeFor({ schema }: Parameter, { value }: Placed): string | undefined {
  const text = typeof value === 'number' ? timeOfDay(value, 0) : value.includes('T') ? value.slice(11, 16) : value
  return schema.format === 'time' && text !== undefined ? `${text}:00` : text
}

/** A day without a time begins at midnight; a time without a day is the next one. */
function momentFor({ kind, value, start }: Placed, { mentions }: Passage, taken: Taken, now: number): string {
  if (kind === 'datetime') return String(value)
  const isOther = (one: Placed): boolean => one.kind === (kind === 'date' ? 'time' : 'date') && taken.isFree(one)
  const [other] = mentions.filter(isOther).sort((a, b) => Math.abs(a.start - start) - Math.abs(b.start - start))
  if (other) taken.take(other)
  if (kind === 'date') return `${value}T${other?.value ?? '00:00'}:00Z`
  if (other) return `${other.value}T${value}:00Z`
  const today = `${isoDate(now)}T${value}:00Z`
  return Date.parse(today) >= now ? today : `${isoDate(now + 86_400_000)}T${value}:00Z`
}

function wantsCode({ words, about, schema }: Parameter): boolean {
  const isShort = typeof schema.maxLength === 'number' && schema.maxLength <= 3
  return isShort || words.includes('code') || ['code', 'iso', '639'].some((word) => about.has(stem(word)))
}

export function capitalised(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}'’])\p{Ll}/gu, (letter) => letter.toUpperCase())
}
