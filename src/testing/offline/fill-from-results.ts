// Arguments that earlier results have: an id that was looked up, degrees to convert.

import type { Result } from './conversation.ts'
import { type Parameter, recordOf, toPlainText } from './declared-tool.ts'
import { findMissing } from './fill-arguments.ts'
import type { Task } from './tasks.ts'
import { nameWords, stem } from './words.ts'

const MAX_DEPTH = 4

/** The task with what results add to what it lacks; several values are several calls. */
export function fillFromResults(task: Task, results: readonly Result[]): Task {
  const { tool, filled } = task
  const values = new Map(filled.values)
  let { furtherValues } = filled
  for (const parameter of filled.missing) {
    const [first, ...more] = findResultValues(parameter, results)
    if (first !== undefined) values.set(parameter, first)
    if (more.length) furtherValues ??= { parameter, values: more }
  }
  return { ...task, filled: { ...filled, values, furtherValues, missing: findMissing(tool, values) } }
}

/** The values under keys that are called like the parameter, each once; of a list only the first item. */
export function findResultValues({ words, kind, choices, schema }: Parameter, results: readonly Result[]): unknown[] {
  const found = new Set<unknown>()
  const isFit = (value: unknown): boolean => {
    if (kind === 'choice') return choices.includes(value)
    if (kind === 'number' || kind === 'boolean') return typeof value === kind
    return kind === 'list' ? Array.isArray(value) : schema.type === 'string' && toPlainText(value) !== ''
  }
  const walk = (value: unknown, key: string, depth: number): void => {
    const own = nameWords(key).map(stem)
    if (depth > MAX_DEPTH) return
    if (words.every((word) => own.includes(word)) && isFit(value))
      found.add(schema.type === 'string' ? String(value) : value)
    if (Array.isArray(value)) walk(value[0], key, depth + 1)
    for (const [name, inner] of Object.entries(recordOf(value))) walk(inner, name, depth + 1)
  }
  for (const { response } of results) walk(response, '', 0)
  return [...found]
}
