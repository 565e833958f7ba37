import { copyJson, type JsonObject, setOwn } from '../../base/json.ts'
import { countParts } from '../../base/value-size.ts'
import { spendWork, type WorkBudget } from '../work-budget.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Fills in absent properties that have a default. Defaults inside a default apply too: an object that is itself a
 * default is completed like an object that was sent. Changes `value`.
 */
export function applyDefaults(value: unknown, node: SchemaNode, work: WorkBudget): void {
  fillIn(value, node, work, [])
}

/** Fills in the defaults of one value. `filled`: the properties whose defaults are being completed. */
function fillIn(value: unknown, node: SchemaNode, work: WorkBudget, filled: readonly SchemaNode[]): void {
  if (typeof value !== 'object' || value === null) return
  spendWork(work, node.cost)
  if (node.ref) fillIn(value, node.ref.node, work, filled)
  if (node.allOf) for (const part of node.allOf) fillIn(value, part.node, work, filled)
  if (Array.isArray(value)) {
    const { first = [], rest } = node.array ?? {}
    for (let i = 0; i < value.length; i++) {
      const part = first[i] ?? rest
      if (part) fillIn(value[i], part.node, work, filled)
    }
    return
  }
  const record = value as JsonObject
  for (const [key, { node: property }] of node.object?.properties ?? []) {
    if (Object.hasOwn(record, key)) fillIn(record[key], property, work, filled)
    else {
      const found = defaultOf(property)
      // A default that contains itself through a reference is filled in once.
      if (found === undefined || filled.includes(property)) continue
      spendWork(work, countParts(found) + filled.length)
      setOwn(record, key, copyJson(found))
      fillIn(record[key], property, work, [...filled, property])
    }
  }
}

/** The default of a schema, also through references. References have an end: `checkChains` refuses cycles. */
function defaultOf({ schema, ref }: SchemaNode): unknown {
  return schema.default === undefined && ref ? defaultOf(ref.node) : schema.default
}
