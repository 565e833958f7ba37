// Arguments and results of tools as a person reads them, in one line.
import { isRecord, type JsonObject } from '../base/json.ts'
import { exactly, inOneLine, visible } from './visible.ts'

/** `city: Oslo, days: 3`. Text is quoted only where it would be ambiguous. */
export function readable(value: unknown): string {
  if (typeof value === 'string') return inOneLine(value.trim())
  if (!isRecord(value)) return exactly(value)
  const members = Object.entries(value)
  return members
    .map(([name, member]) => `${inOneLine(name)}: ${isPlainText(member) ? inOneLine(member) : exactly(member)}`)
    .join(', ')
}

function isPlainText(value: unknown): value is string {
  if (typeof value !== 'string' || value.trim() !== value) return false
  return !/^$|^["'[{]|[\n\r]|, |: |^(?:true|false|null|[-\d.]+)$/.test(value)
}

/** What a result says when it is an error: the message, with its code. */
export function errorIn({ error, errorCode }: JsonObject): string | undefined {
  if (typeof error !== 'string' || error === '') return undefined
  return inOneLine(typeof errorCode === 'string' ? `${error} (${errorCode})` : error)
}

/** What a result says; a single value is shown without its name. */
export function resultIn(response: JsonObject): string {
  const { result, ...others } = response
  return readable(result !== undefined && Object.keys(others).length === 0 ? result : response)
}

/** A call and its result, all of it, over several lines. */
export function wholeCall(name: string, args: unknown, response: JsonObject): string {
  return visible(`${name} ${pretty(args ?? {})}\n→ ${pretty(response)}\n`)
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? 'undefined'
}
