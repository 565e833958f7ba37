// Arguments that earlier results have: an id that was looked up, degrees to convert.
import { missingOf } from './fill.ts'
import type { Result } from './heard.ts'
import { type Parameter, recordOf } from './parameters.ts'
import type { Task } from './tasks.ts'
import { nameWords, stem } from './words.ts'

const MAX_DEPTH = 4
const MAX_ITEMS = 20

/** The task with what results add to what it lacks. */
export function completed(task: Task, results: readonly Result[]): Task {
  const { tool, filled, passage } = task
  const isAll = passage.tokens.some(({ lower }) => /^(?:all|every|each|both|them|these|those)$/.test(lower))
  const values = new Map(filled.values)
  let { several } = filled
  for (const parameter of filled.missing) {
    const [first, ...more] = valuesFor(parameter, results, isAll ? MAX_ITEMS : 1)
    if (first !== undefined) values.set(parameter, first)
    if (more.length) several ??= { parameter, values: more }
  }
  return { ...task, filled: { ...filled, values, several, missing: missingOf(tool, values) } }
}

/** The values under the keys that are most like the parameter, each once; of lists only the first items. */
export function valuesFor(parameter: Parameter, results: readonly Result[], items: number): unknown[] {
  const { words, kind, schema } = parameter
  let best = { score: 0, values: new Set<unknown>() }
  const walk = (value: unknown, key: readonly string[], around: readonly string[], depth: number): void => {
    if (depth > MAX_DEPTH) return
    const rest = words.filter((word) => !key.includes(word))
    // `order_id` is like `orderId`, and like the `id` of an order
    const isInside = key.includes(words.at(-1) ?? '') && rest.every((word) => around.includes(word))
    const score = !isFit(parameter, value) ? 0 : rest.length === 0 ? 2 : isInside ? 1 : 0
    if (score > best.score) best = { score, values: new Set() }
    if (score > 0 && score === best.score)
      best.values.add(schema.type === 'string' && kind !== 'choice' ? String(value) : value)
    if (Array.isArray(value)) for (const item of value.slice(0, items)) walk(item, key, around, depth + 1)
    for (const [name, one] of Object.entries(recordOf(value)))
      walk(one, nameWords(name).map(stem), [...around, ...key], depth + 1)
  }
  for (const { name, response } of results) walk(response, [], nameWords(name).map(stem), 0)
  return [...best.values]
}

function isFit({ kind, choices, schema }: Parameter, value: unknown): boolean {
  if (kind === 'choice') return choices.includes(value)
  if (kind === 'number' || kind === 'boolean') return typeof value === kind
  return kind === 'list' ? Array.isArray(value) : schema.type === 'string' && /^(?:string|number)$/.test(typeof value)
}
