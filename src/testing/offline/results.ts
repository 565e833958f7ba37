// Arguments that earlier results have: an id that was looked up, degrees to convert.
import { isRecord } from '../../base/json.ts'
import { type Filled, missingOf } from './fill.ts'
import type { Result } from './heard.ts'
import type { Parameter } from './parameters.ts'
import type { Task } from './tools.ts'
import { nameWords, stem } from './words.ts'

const MAX_ENTRIES = 300
const MAX_ITEMS = 20

/** The task with what results add to it, and whether they added anything. */
export function completed(
  { tool, filled, passage }: Omit<Task, 'words'>,
  results: readonly Result[],
): { filled: Filled; isFed: boolean } {
  const isAll = passage.tokens.some(({ lower }) => /^(?:all|every|each|both|them|these|those)$/.test(lower))
  const values = new Map(filled.values)
  let { several } = filled
  for (const parameter of filled.missing) {
    const [first, ...more] = valuesFor(parameter, results, isAll ? MAX_ITEMS : 1)
    if (first === undefined) continue
    values.set(parameter, first)
    if (more.length) several ??= { parameter, values: more }
  }
  const missing = missingOf(tool, values)
  return { filled: { ...filled, values, several, missing }, isFed: values.size > filled.values.size }
}

/** The values under the key that is most like the parameter, each once; of lists only the first items. */
export function valuesFor(parameter: Parameter, results: readonly Result[], items: number): unknown[] {
  let best = { score: 0, place: '', values: [] as unknown[] }
  let left = MAX_ENTRIES
  const walk = (value: unknown, key: readonly string[], around: readonly string[], depth: number): void => {
    if (left-- <= 0 || depth > 4) return
    const own = asFor(parameter, value)
    const score = own === undefined ? 0 : likeness(parameter.words, key, around)
    const place = [...around, '', ...key].join(' ')
    if (score > 0 && score === best.score && place === best.place) best.values.push(own)
    else if (score > 0 && score >= best.score) best = { score, place, values: [own] }
    if (Array.isArray(value)) for (const item of value.slice(0, items)) walk(item, key, around, depth + 1)
    else if (isRecord(value))
      for (const [child, inner] of Object.entries(value))
        walk(inner, nameWords(child).map(stem), [...around, ...key], depth + 1)
  }
  for (const { name, response } of results) walk(response, [], nameWords(name).map(stem), 0)
  return [...new Set(best.values)]
}

/** `order_id` is like `orderId`, like the `id` of an order, and `celsius` like `temperatureCelsius`. */
function likeness(words: readonly string[], key: readonly string[], around: readonly string[]): number {
  const rest = words.filter((word) => !key.includes(word))
  if (rest.length === 0) return words.length === key.length ? 4 : 3
  const last = words.at(-1)
  return last !== undefined && key.includes(last) && rest.every((word) => around.includes(word)) ? 2.5 : 0
}

/** The value as the parameter takes it; undefined when it cannot. */
function asFor({ kind, choices, schema }: Parameter, value: unknown): unknown {
  if (kind === 'choice') return choices.includes(value) ? value : undefined
  if (kind === 'number' || kind === 'boolean') return typeof value === kind ? value : undefined
  if (kind === 'list') return Array.isArray(value) ? value : undefined
  return schema.type === 'string' && (typeof value === 'string' || typeof value === 'number')
    ? String(value)
    : undefined
}
