import { isRecord } from '../../../src/core/base/json.ts'
import { visibleLine } from './visible-text.ts'

const MOST_CHARACTERS = 90

/** The start of a value as JSON in one line. Reads no more of a large value than it shows. */
export function previewJson(value: unknown): string {
  const text = visibleLine(start(value, MOST_CHARACTERS + 1))
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}

function start(value: unknown, room: number): string {
  if (room <= 0) return ''
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room))
  if (Array.isArray(value)) return `[${list(value.values(), room, start)}]`
  if (!isRecord(value)) return String(value)
  const keys = Object.keys(value).values()
  return `{${list(keys, room, (key, left) => `${JSON.stringify(key)}:${start(value[key], left)}`)}}`
}

function list<T>(items: Iterable<T>, room: number, write: (item: T, room: number) => string): string {
  let text = ''
  for (const item of items) {
    if (text.length > room) return text
    text += `${text === '' ? '' : ','}${write(item, room - text.length)}`
  }
  return text
}
