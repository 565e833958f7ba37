import { copyJson, type JsonObject, setOwn } from '../../base/json.ts'
import { CHECK_FAILED, type Parsed } from '../issues.ts'
import { countParts, findSizeProblem } from '../value-size.ts'
import { MAX_WORK, spendWork, type WorkBudget, WorkLimitError } from '../work-budget.ts'
import type { CheckedSchema } from './check-schema.ts'
import { compileNodes, type SchemaNode } from './compile-nodes.ts'
import { toIssues } from './json-schema-issues.ts'
import { findFailures, fits } from './validate.ts'

/** Finding the first keyword that does not hold is what decides; finding the others only helps. */
const MAX_REPORT_WORK: number = MAX_WORK / 4

const tooMuchWork: Parsed = {
  issues: [{ path: '', expected: 'a value that takes less work to check against its schema' }],
}

/** The check of a plain JSON Schema (draft 2020-12), in bounded time. Generates no code. */
export function createJsonSchemaParser(
  checked: CheckedSchema,
  what: string,
  lenient = false,
): (value: unknown) => Parsed {
  // Its own copy: what the model is shown may be passed around.
  const source = copyJson(checked.jsonSchema)
  const compile = (): SchemaNode => compileNodes(source, { what, lenient })
  // Nothing else can be wrong with a checked schema, so that the first value is early enough.
  let compiled = checked.hasLinks || checked.hasAddresses ? compile() : undefined
  return (value) => {
    try {
      compiled ??= compile()
      const root = compiled
      const problem = findSizeProblem(value)
      if (problem) return problem
      const work: WorkBudget = { left: MAX_WORK }
      const copy = withoutUndefined(value)
      if (checked.hasDefaults) applyDefaults(copy, root, work)
      if (fits(root, copy, work)) return { value: copy }
      return { issues: toIssues(findFailures(root, copy, { left: MAX_REPORT_WORK })) }
    } catch (error) {
      return error instanceof WorkLimitError ? tooMuchWork : CHECK_FAILED
    }
  }
}

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : withoutUndefined(item)))
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) {
    const item = (value as JsonObject)[key]
    if (item !== undefined) setOwn(copy, key, withoutUndefined(item))
  }
  return copy
}

// Fills in what is absent, also inside a default: an object that is itself a default is completed like one that was sent.
function applyDefaults(value: unknown, node: SchemaNode, work: WorkBudget, filled: readonly SchemaNode[] = []): void {
  if (typeof value !== 'object' || value === null) return
  spendWork(work, node.cost)
  if (node.ref) applyDefaults(value, node.ref, work, filled)
  if (node.allOf) for (const part of node.allOf) applyDefaults(value, part, work, filled)
  if (Array.isArray(value)) {
    const { first = [], rest } = node.array ?? {}
    for (let i = 0; i < value.length; i++) {
      const part = first[i] ?? rest
      if (part) applyDefaults(value[i], part, work, filled)
    }
    return
  }
  const record = value as JsonObject
  for (const [key, property] of node.object?.properties ?? []) {
    if (Object.hasOwn(record, key)) applyDefaults(record[key], property, work, filled)
    else {
      const found = defaultOf(property)
      // A default that holds itself, through a reference, is filled in once.
      if (found === undefined || filled.includes(property)) continue
      spendWork(work, countParts(found) + filled.length)
      setOwn(record, key, copyJson(found))
      applyDefaults(record[key], property, work, [...filled, property])
    }
  }
}

// References end: a circle was refused.
function defaultOf({ schema, ref }: SchemaNode): unknown {
  return schema.default === undefined && ref ? defaultOf(ref) : schema.default
}
