// Arguments that earlier results have: an id that was looked up, degrees to convert.
import { isRecord } from '../../base/json.ts'
import { missingOf, type Several } from './arguments.ts'
import type { Filled } from './fill.ts'
import type { Result } from './heard.ts'
import type { Parameter } from './parameters.ts'
import { areNear } from './synonyms.ts'
import { isBody, isTitle, titleOf } from './text-kinds.ts'
import type { Task } from './understand.ts'
import { nameWords, stem } from './words.ts'

export interface Completed {
  readonly filled: Filled
  /** How many values came from results. */
  readonly used: number
}

/** The task with what results add to it; `text` is what they say in words, for letters. */
export function completed({ tool, filled, passage }: Task, results: readonly Result[], text: string): Completed {
  const isAll = passage.tokens.some(({ lower }) => everything.has(lower))
  const entries = results.flatMap((result) => entriesOf(result, isAll ? MAX_ITEMS : 1))
  const values = new Map(filled.values)
  let several: Several | undefined = filled.several
  let used = 0
  for (const parameter of filled.missing) {
    const [first, ...more] = valuesFor(parameter, entries)
    if (first !== undefined) used++
    if (more.length) several ??= { parameter, values: more }
    const value = first ?? (text ? inLetter(parameter, tool, text) : undefined)
    if (value !== undefined) values.set(parameter, value)
  }
  return { filled: { ...filled, values, several, missing: missingOf(tool.parameters, values) }, used }
}

/** "Email them to Bob": the body says what was found, the subject how it begins. */
function inLetter(parameter: Parameter, { parameters }: Task['tool'], text: string): string | undefined {
  if (isBody(parameter)) return text
  return isTitle(parameter) && parameters.some(isBody) ? titleOf(text) : undefined
}

const everything = new Set(['all', 'every', 'each', 'both', 'them', 'these', 'those'])
const MAX_ITEMS = 20

/** What results have for a parameter. */
export function valueFrom(parameter: Parameter, results: readonly Result[]): unknown {
  return valuesFor(
    parameter,
    results.flatMap((result) => entriesOf(result, 1)),
  )[0]
}

/** A value of a result and the words of the keys that lead to it. */
interface Entry {
  readonly tool: string
  readonly value: unknown
  readonly key: readonly string[]
  readonly around: readonly string[]
}

const MAX_ENTRIES = 300
const MAX_DEPTH = 4

/** Every value of a result; of lists only the first items. */
function entriesOf({ name, response }: Result, items: number): Entry[] {
  const found: Entry[] = []
  const walk = (value: unknown, key: readonly string[], around: readonly string[], depth: number): void => {
    if (found.length >= MAX_ENTRIES || depth > MAX_DEPTH) return
    if (key.length) found.push({ tool: name, value, key, around })
    const above = [...around, ...key]
    if (Array.isArray(value)) for (const item of value.slice(0, items)) walk(item, key, above, depth + 1)
    else if (isRecord(value))
      for (const [child, inner] of Object.entries(value)) walk(inner, nameWords(child).map(stem), above, depth + 1)
  }
  walk(response, [], nameWords(name).map(stem), 0)
  return found
}

/** The values under the key that is most like the parameter: of the latest tool that has one, each once. */
function valuesFor(parameter: Parameter, entries: readonly Entry[]): unknown[] {
  let best: { entry: Entry; score: number } | undefined
  for (const entry of entries) {
    const score = asFor(parameter, entry.value) === undefined ? 0 : likeness(parameter.words, entry)
    if (score > 0 && score >= (best?.score ?? 0)) best = { entry, score }
  }
  if (!best) return []
  const { tool, key, around } = best.entry
  const isSame = (one: Entry): boolean =>
    one.tool === tool && one.key.join(' ') === key.join(' ') && one.around.join(' ') === around.join(' ')
  const values = entries.filter(isSame).map(({ value }) => asFor(parameter, value))
  return [...new Set(values.filter((value) => value !== undefined))]
}

/** `order_id` is like `orderId`, like the `id` of an order, and `celsius` like `temperatureCelsius`. */
function likeness(words: readonly string[], { key, around }: Entry): number {
  if (words.join(' ') === key.join(' ')) return 4
  const rest = words.filter((word) => !key.includes(word))
  const last = words.at(-1)
  if (rest.length === 0) return 3
  if (last !== undefined && key.includes(last) && rest.every((word) => around.includes(word))) return 2.5
  if (words.length === 1 && key.length === 1) return areNear(words[0] ?? '', key[0] ?? '') ? 1 : 0
  return 0
}

/** The value as the parameter takes it; undefined when it cannot. */
function asFor({ kind, choices, schema }: Parameter, value: unknown): unknown {
  if (kind === 'choice') return choices.includes(value) ? value : undefined
  if (kind === 'number') return typeof value === 'number' ? value : undefined
  if (kind === 'boolean') return typeof value === 'boolean' ? value : undefined
  if (kind === 'list') return Array.isArray(value) ? value : undefined
  if (schema.type !== 'string') return undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
