// Descriptions and tags of doc comments, as keywords of a schema.
import { closestNames, isMisspelling } from '../../../core/base/closest-names.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { TYPE_MARK } from '../../../core/schema/marked-strings.ts'
import type { Docs } from './docs.ts'
import { type Position, type Reading, refuse } from './reading.ts'
import { tagValue } from './tag-value.ts'

/** Adds the description and the tags to the schema of a value. */
export function withDocs(reading: Reading, schema: JsonObject, { description, tags }: Docs, at: Position): JsonObject {
  let documented: JsonObject = { ...schema, ...(description !== undefined && { description }) }
  for (const { name, text } of tags) {
    const constraint = CONSTRAINTS.get(name)
    if (constraint) documented = withConstraint(reading, documented, { ...constraint, keyword: name, text }, at)
    else if (name === 'default') documented = withDefault(reading, documented, text, at)
    else if (name === 'deprecated') documented.deprecated = true
    else if (name === 'example')
      documented.examples = [...((documented.examples as unknown[]) ?? []), tagValue(text, schema) ?? text]
    else checkSpelling(reading, name, at)
  }
  return documented
}

/** Reports a tag that looks like a known one. A constraint that is misspelled would not be checked. */
function checkSpelling(reading: Reading, name: string, at: Position): void {
  if (reading.side === 'result' || isKnownTag(name)) return
  const similar = [...CONSTRAINTS.keys(), ...OTHER_TAGS].filter((known) => isMisspelling(name, known))
  const [meant] = closestNames(name, similar)
  if (meant !== undefined)
    refuse(reading, at, `The tag @${name} of ${at.label} does not exist. Write @${meant}, or choose another name.`)
}

function withDefault(reading: Reading, schema: JsonObject, text: string, at: Position): JsonObject {
  const value = tagValue(text, schema)
  if (value !== undefined) return { ...schema, default: value }
  if (!at.isOtherType)
    refuse(
      reading,
      at,
      `The tag @default of ${at.label} is "${text}", which its type does not accept. Change one of them.`,
    )
  return schema
}

interface Constraint {
  /** The type of the values it applies to. */
  readonly of: 'number' | 'string' | 'array'
  readonly takes: 'number' | 'factor' | 'count' | 'text' | 'pattern'
}

/** Tags that become a keyword of the same name. */
const CONSTRAINTS: ReadonlyMap<string, Constraint> = new Map<string, Constraint>([
  ['minimum', { of: 'number', takes: 'number' }],
  ['maximum', { of: 'number', takes: 'number' }],
  ['multipleOf', { of: 'number', takes: 'factor' }],
  ['minLength', { of: 'string', takes: 'count' }],
  ['maxLength', { of: 'string', takes: 'count' }],
  ['pattern', { of: 'string', takes: 'pattern' }],
  ['format', { of: 'string', takes: 'text' }],
  ['minItems', { of: 'array', takes: 'count' }],
  ['maxItems', { of: 'array', takes: 'count' }],
])

/** Tags with a meaning of their own. `any` is not here: too many short names resemble it. */
const OTHER_TAGS = ['default', 'deprecated', 'example']

/** Whether a tag says something about a schema. */
export function isKnownTag(name: string): boolean {
  return name === 'any' || CONSTRAINTS.has(name) || OTHER_TAGS.includes(name)
}

function withConstraint(
  reading: Reading,
  schema: JsonObject,
  { keyword, text, of, takes }: Constraint & { keyword: string; text: string },
  at: Position,
): JsonObject {
  const value = constraintValue(takes, text)
  if (value === undefined) {
    refuse(reading, at, `The tag @${keyword} of ${at.label} ${EXPECTED[takes]}, got "${text}".`)
    return schema
  }
  const constrained = constrain(schema, of, { [keyword]: value })
  if (constrained) return constrained
  if (!at.isOtherType)
    refuse(
      reading,
      at,
      `The tag @${keyword} of ${at.label} applies to ${NOUNS[of]} only. Remove it, or change the type.`,
    )
  return schema
}

const NOUNS: { readonly [of in Constraint['of']]: string } = {
  number: 'a number',
  string: 'a string',
  array: 'an array',
}

const EXPECTED: { readonly [takes in Constraint['takes']]: string } = {
  number: 'takes a number',
  factor: 'takes a number > 0',
  count: 'takes a whole number >= 0',
  text: 'needs a value',
  pattern: 'takes a regular expression',
}

function constraintValue(takes: Constraint['takes'], text: string): unknown {
  if (text === '') return undefined
  if (takes === 'text') return text
  if (takes === 'pattern') return isPattern(text) ? text : undefined
  const number = Number(text)
  if (!Number.isFinite(number)) return undefined
  if (takes === 'factor') return number > 0 ? number : undefined
  return takes === 'count' && (!Number.isInteger(number) || number < 0) ? undefined : number
}

function isPattern(text: string): boolean {
  try {
    return Boolean(new RegExp(text, 'u'))
  } catch {
    return false
  }
}

/** Adds keywords to a schema of the type, or to the branches of a union that have the type. */
function constrain(schema: JsonObject, type: string, keywords: JsonObject): JsonObject | undefined {
  if (schema.type === type && !(TYPE_MARK in schema)) return { ...schema, ...keywords }
  if (!Array.isArray(schema.anyOf)) return undefined
  const branches = schema.anyOf.map((branch) =>
    isRecord(branch) ? (constrain(branch, type, keywords) ?? branch) : branch,
  )
  return branches.some((branch, index) => branch !== (schema.anyOf as unknown[])[index])
    ? { ...schema, anyOf: branches }
    : undefined
}
