import type { JsonObject } from '../../../core/base/json.ts'

/** Converts number bounds to `minimum` and `maximum`. Gemini has no exclusive bounds; `notes` gets those it cannot express. */
export function numberBounds(keywords: JsonObject, isInteger: boolean, notes: string[]): JsonObject {
  const lower = bound(keywords.minimum, keywords.exclusiveMinimum, Math.max)
  const upper = bound(keywords.maximum, keywords.exclusiveMaximum, Math.min)
  const schema: JsonObject = {}
  if (lower) schema.minimum = !lower.isOpen ? lower.at : isInteger ? Math.floor(lower.at) + 1 : lower.at
  if (upper) schema.maximum = !upper.isOpen ? upper.at : isInteger ? Math.ceil(upper.at) - 1 : upper.at
  if (lower?.isOpen && !isInteger) notes.push(`Greater than ${lower.at}.`)
  if (upper?.isOpen && !isInteger) notes.push(`Less than ${upper.at}.`)
  return schema
}

function bound(
  closed: unknown,
  open: unknown,
  tighter: (a: number, b: number) => number,
): { at: number; isOpen: boolean } | undefined {
  if (typeof closed !== 'number') return typeof open === 'number' ? { at: open, isOpen: true } : undefined
  if (open === true) return { at: closed, isOpen: true } // draft 4
  if (typeof open !== 'number') return { at: closed, isOpen: false }
  return tighter(closed, open) === closed && closed !== open
    ? { at: closed, isOpen: false }
    : { at: open, isOpen: true }
}
