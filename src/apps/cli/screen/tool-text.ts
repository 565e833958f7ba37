// Formats the arguments and results of tools for reading.

import { escapeJson, escapeLine, escapeText } from '../../../core/base/escape.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'

/** Formats a value in one line, e.g. `city: Oslo, days: 3`. Strings are quoted only where they would be ambiguous. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return escapeLine(value.trim())
  if (!isRecord(value)) return escapeJson(value)
  const members = Object.entries(value)
  return members
    .map(([name, member]) => `${escapeLine(name)}: ${isPlainText(member) ? escapeLine(member) : escapeJson(member)}`)
    .join(', ')
}

function isPlainText(value: unknown): value is string {
  if (typeof value !== 'string' || value.trim() !== value) return false
  return !/^$|^["'[{]|[\n\r]|, |: |^(?:true|false|null|[-\d.]+)$/.test(value)
}

/** The message and code of an error response; undefined when the response is not an error. */
export function formatError({ error, errorCode }: JsonObject): string | undefined {
  if (typeof error !== 'string' || error === '') return undefined
  return escapeLine(typeof errorCode === 'string' ? `${error} (${errorCode})` : error)
}

/** Formats a response; a single `result` is shown without its name. */
export function formatResult(response: JsonObject): string {
  const { result, ...others } = response
  return formatValue(result !== undefined && Object.keys(others).length === 0 ? result : response)
}

/** Formats a call and its response in full, over several lines. */
export function formatFullCall(name: string, args: unknown, response: JsonObject): string {
  return escapeText(`${name} ${pretty(args ?? {})}\n→ ${pretty(response)}\n`)
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? 'undefined'
}
