// Values as one says them.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { isUnitKey, unitOf } from './units.ts'
import { nameWords } from './words.ts'

const MAX_ITEMS = 10
const MAX_TEXT = 2_000
const MAX_DEPTH = 3

/** A value that stands under a key of an object. */
export function spoken(value: unknown, key = '', beside: JsonObject = {}, depth = 0): string {
  if (typeof value === 'number') return `${value}${unitOf(key, beside)}`
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return spokenList(value, key, depth)
  if (isRecord(value)) return spokenObject(value, depth)
  return 'nothing'
}

export function labelOf(key: string): string {
  const words = nameWords(key)
  const unit = words.length > 1 && unitOf(words.at(-1) ?? '', {}) !== '' ? words.slice(0, -1) : words
  return unit.join(' ') || key
}

/** a, b and c */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

function spokenList(items: readonly unknown[], key: string, depth: number): string {
  if (items.length === 0) return 'none'
  if (depth >= MAX_DEPTH) return `${items.length}`
  const said = items.slice(0, MAX_ITEMS).map((item) => spoken(item, key, {}, depth + 1))
  const more = items.length - said.length
  if (items.some(isRecord)) return `${said.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
  return listed(more > 0 ? [...said, `${more} more`] : said)
}

const titles = ['name', 'title', 'subject', 'label', 'id']

/** Its name, and the rest in brackets. */
function spokenObject(object: JsonObject, depth: number): string {
  const entries = Object.entries(object).filter(([key]) => !isUnitKey(key, object))
  if (entries.length === 0) return 'nothing'
  if (depth >= MAX_DEPTH) return '…'
  const title = titles.find((key) => Object.hasOwn(object, key) && !isRecord(object[key]))
  const rest = entries
    .filter(([key]) => key !== title)
    .slice(0, MAX_ITEMS)
    .map(([key, value]) => `${labelOf(key)} ${spoken(value, key, object, depth + 1)}`)
  if (title === undefined) return rest.join(', ')
  const name = spoken(object[title], title, object, depth + 1)
  return rest.length ? `${name} (${rest.join(', ')})` : name
}
