// Writes the constraints that Gemini's schemas cannot express as sentences for the description.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'

const MAX_LENGTH = 600

/** A value as JSON for a sentence, shortened. */
export function quoteJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text
}

/** A description with notes appended. */
export function appendNotes(description: string | undefined, notes: readonly string[]): string {
  if (!description || notes.length === 0) return description ?? notes.join(' ')
  return `${/[.!?:)]\s*$/.test(description) ? description.trimEnd() : `${description}.`} ${notes.join(' ')}`
}

/** A sentence for each constraint that Gemini has no keyword for. Unknown keywords are ignored. */
export function describeConstraints(keywords: JsonObject): string[] {
  return Object.keys(SENTENCES).flatMap((keyword) => {
    const value = keywords[keyword]
    return value === undefined ? [] : (SENTENCES[keyword]?.(value, keywords) ?? [])
  })
}

type Sentence = (value: unknown, keywords: JsonObject) => string | string[] | undefined

const SENTENCES: Readonly<Record<string, Sentence>> = {
  format: (value) => (isKnownFormat(value) || NUMBER_FORMATS.has(value) ? undefined : `Format: ${value}.`),
  pattern: (value) => `Must match the pattern ${value}`,
  minLength: (value) => (value === 0 ? undefined : `At least ${count(value, 'character')}.`),
  maxLength: (value) => `At most ${count(value, 'character')}.`,
  contentEncoding: (value) => `Encoded as ${value}.`,
  contentMediaType: (value) => `Contains ${value}.`,
  multipleOf: (value) => `A multiple of ${value}.`,
  uniqueItems: (value) => (value === true ? 'All items must be different.' : undefined),
  contains: (value, { minContains = 1, maxContains }) => {
    const most = maxContains === undefined ? '' : `, at most ${maxContains}`
    return `At least ${count(minContains, 'item')}${most}, must fit ${quoteJson(value)}`
  },
  unevaluatedItems: (value) => (value === false ? 'No other items.' : `Other items must fit ${quoteJson(value)}`),
  minProperties: (value) => `At least ${count(value, 'property', 'properties')}.`,
  maxProperties: (value) => `At most ${count(value, 'property', 'properties')}.`,
  propertyNames: (value) => `Every property name must fit ${quoteJson(value)}`,
  patternProperties: (value) =>
    entries(value).map(([name, schema]) => `Properties named like ${name} must fit ${quoteJson(schema)}`),
  unevaluatedProperties: (value) =>
    value === false ? 'No other properties.' : `Other properties must fit ${quoteJson(value)}`,
  dependentRequired: (value) =>
    entries(value).map(([name, names]) => `If "${name}" is present, these are required: ${quoteJson(names)}.`),
  dependentSchemas: (value) =>
    entries(value).map(([name, schema]) => `If "${name}" is present, it must fit ${quoteJson(schema)}`),
  dependencies: (value) => entries(value).map(([name, schema]) => `With "${name}" goes ${quoteJson(schema)}`),
  not: (value) => `Must not fit ${quoteJson(value)}`,
  if: (value, { then = true, else: otherwise = true }) => {
    return `If it fits ${quoteJson(value)} it must fit ${quoteJson(then)}, otherwise ${quoteJson(otherwise)}`
  },
  default: (value) => `Default: ${quoteJson(value)}.`,
  examples: (value) =>
    Array.isArray(value) && value.length ? `For example ${value.map(quoteJson).join(', ')}.` : undefined,
  deprecated: (value) => (value === true ? 'Deprecated.' : undefined),
}

/** Whether Gemini supports a string format. */
export const isKnownFormat = (format: unknown): boolean =>
  format === 'date-time' || format === 'date' || format === 'time'

/** Formats of OpenAPI that are no constraints. */
const NUMBER_FORMATS = new Set<unknown>(['int32', 'int64', 'float', 'double'])

function count(value: unknown, one: string, many = `${one}s`): string {
  return `${value} ${value === 1 ? one : many}`
}

function entries(value: unknown): (readonly [string, unknown])[] {
  return isRecord(value) ? Object.entries(value) : []
}
