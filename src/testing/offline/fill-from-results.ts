// Fills missing arguments from earlier results, e.g. an id that was looked up.

import type { Result } from './conversation.ts'
import { type Parameter, recordOf, toPlainText } from './declared-tool.ts'
import { findMissing } from './fill-arguments.ts'
import type { Task } from './tasks.ts'
import { nameWords, stem } from './words.ts'

const MAX_DEPTH = 4

/** Adds values of the results to the missing arguments of a task. */
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

/** Finds values under keys with the name of the parameter, each once. Only the first item of a list is searched. */
export function findResultValues({ words, kind, choices, schema }: Parameter, results: readonly Result[]): unknown[] {
  const found = new Set<unknown>()
  const isFit = (value: unknown): boolean => {
    if (kind === 'choice') return choices.includes(value)
    if (kind === 'number' || kind === 'boolean') return typeof value === kind
    return kind === 'list' ? Array.isArray(value) : schema.type === 'string' && toPlainText(value) !== ''
  }
  const search = (value: unknown, key: string, depth: number): void => {
    const own = nameWords(key).map(stem)
    if (depth > MAX_DEPTH) return
    if (words.every((word) => own.includes(word)) && isFit(value))
      found.add(schema.type === 'string' ? String(value) : value)
    if (Array.isArray(value)) search(value[0], key, depth + 1)
    for (const [name, inner] of Object.entries(recordOf(value))) search(inner, name, depth + 1)
  }
  for (const { response } of results) search(response, '', 0)
  return [...found]
}
