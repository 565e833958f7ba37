// Applies a compiled JSON Schema (draft 2020-12, with the lists and dependencies of draft 7) to a value. Every step is
// counted before it is done, so that no value and no schema can make it run long.

import { spendWork, type WorkBudget, WorkLimitError } from '../work-budget.ts'
import {
  type ArrayRules,
  type NumberRules,
  type ObjectRules,
  type SchemaNode,
  type StringRules,
  TYPE_BITS,
} from './compile-nodes.ts'
import { identityOf } from './identity.ts'

/** One keyword that did not hold. */
export interface Failure {
  readonly keyword: string
  /** The schema it stands in. */
  readonly schema: { readonly [keyword: string]: unknown }
  /** Keys from the root of the value. */
  readonly path: readonly PropertyKey[]
  /** Keywords from the root of the schema. */
  readonly at: readonly string[]
}

/** Does the value fit? Stops at the first keyword that does not hold. */
export function fits(node: SchemaNode, value: unknown, work: WorkBudget): boolean {
  return apply(node, value, { work, depth: 0, path: [], at: [], leaves: undefined }, undefined)
}

const MAX_LEAVES = 200

/** What does not hold, as far as the work goes: some of it, for a value that does not fit. */
export function findFailures(node: SchemaNode, value: unknown, work: WorkBudget): readonly Failure[] {
  const leaves: Failure[] = []
  try {
    apply(node, value, { work, depth: 0, path: [], at: [], leaves }, undefined)
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error
  }
  return leaves
}

interface Walk {
  readonly work: WorkBudget
  depth: number
  readonly path: PropertyKey[]
  readonly at: string[]
  /** Undefined: the first failure ends it, and nothing is reported. */
  leaves: Failure[] | undefined
}

/** What "unevaluatedProperties" and "unevaluatedItems" must leave alone: keys and indexes other keywords have dealt with. */
interface Evaluated {
  all: boolean
  readonly keys: Set<PropertyKey>
}

/** Nested applications. The stack holds several times as many. */
const MAX_DEPTH = 1_000

function apply(node: SchemaNode, value: unknown, walk: Walk, evaluated: Evaluated | undefined): boolean {
  spendWork(walk.work, node.cost)
  if (node.isNever) return report(walk, node, 'false')
  const kind = kindOf(value)
  if (kind === 0) return report(walk, node, 'type')
  if (++walk.depth > MAX_DEPTH) throw new WorkLimitError()
  const { object, array } = node
  const tracks = (kind === TYPE_BITS.object && object?.unevaluated) || (kind === TYPE_BITS.array && array?.unevaluated)
  const own = tracks ? { all: false, keys: new Set<PropertyKey>() } : evaluated
  let valid = applySimple(node, value, kind, walk)
  if (valid || walk.leaves) valid = applyInPlace(node, value, walk, own) && valid
  if (valid || walk.leaves) {
    if (kind === TYPE_BITS.object && object) valid = applyObject(node, object, value as Fields, walk, own) && valid
    else if (kind === TYPE_BITS.array && array) valid = applyArray(node, array, value as unknown[], walk, own) && valid
  }
  if (tracks && own && evaluated) merge(own, evaluated, walk)
  walk.depth--
  return valid
}

type Fields = { readonly [key: string]: unknown }

/** 0 for what JSON cannot hold. */
function kindOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return TYPE_BITS.string
    case 'number':
      return Number.isInteger(value)
        ? TYPE_BITS.number | TYPE_BITS.integer
        : Number.isFinite(value)
          ? TYPE_BITS.number
          : 0
    case 'boolean':
      return TYPE_BITS.boolean
    case 'object':
      return value === null ? TYPE_BITS.null : Array.isArray(value) ? TYPE_BITS.array : TYPE_BITS.object
    default:
      return 0
  }
}

function applySimple(node: SchemaNode, value: unknown, kind: number, walk: Walk): boolean {
  let valid = true
  if (node.types !== undefined && (node.types & kind) === 0) valid = report(walk, node, 'type')
  if (node.choices && (valid || walk.leaves)) {
    const { keyword, simple, compound } = node.choices
    const isChoice =
      typeof value === 'object' && value !== null
        ? compound.size > 0 && compound.has(identityOf(value, walk.work))
        : simple.has(value)
    if (!isChoice) valid = report(walk, node, keyword)
  }
  if (node.number && typeof value === 'number') valid = applyNumber(node, node.number, value, walk) && valid
  else if (node.string && typeof value === 'string') valid = applyString(node, node.string, value, walk) && valid
  return valid
}

function applyNumber(node: SchemaNode, rules: NumberRules, value: number, walk: Walk): boolean {
  let valid = true
  if (value < rules.minimum) valid = report(walk, node, 'minimum')
  if (value > rules.maximum) valid = report(walk, node, 'maximum')
  if (value <= rules.exclusiveMinimum) valid = report(walk, node, 'exclusiveMinimum')
  if (value >= rules.exclusiveMaximum) valid = report(walk, node, 'exclusiveMaximum')
  if (rules.multipleOf !== undefined && !isMultiple(value, rules.multipleOf, walk.work))
    valid = report(walk, node, 'multipleOf')
  return valid
}

function isMultiple(value: number, divisor: number, work: WorkBudget): boolean {
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0
  // 19.99 is no exact binary number: the decimals decide, as they are written.
  spendWork(work, 40)
  const [digits, exponent] = decimal(value)
  const [divisorDigits, divisorExponent] = decimal(divisor)
  const shift = BigInt(Math.abs(exponent - divisorExponent))
  return exponent >= divisorExponent
    ? (digits * 10n ** shift) % divisorDigits === 0n
    : digits % (divisorDigits * 10n ** shift) === 0n
}

/** `1.25e-3` as `[125n, -5]`. */
function decimal(value: number): [digits: bigint, exponent: number] {
  const [whole = '0', exponent = '0'] = String(value).split('e')
  const [before = '0', after = ''] = whole.split('.')
  return [BigInt(before + after), Number(exponent) - after.length]
}

function applyString(node: SchemaNode, rules: StringRules, value: string, walk: Walk): boolean {
  let valid = true
  // A character has one or two units, so the count is often known without counting.
  const { length } = value
  if (length < rules.minLength * 2 && (length < rules.minLength || charactersOf(value, walk.work) < rules.minLength))
    valid = report(walk, node, 'minLength')
  if (length > rules.maxLength && (length > rules.maxLength * 2 || charactersOf(value, walk.work) > rules.maxLength))
    valid = report(walk, node, 'maxLength')
  if (!valid && !walk.leaves) return false
  if (rules.pattern && !rules.pattern.test(value, walk.work)) valid = report(walk, node, 'pattern')
  if (rules.format && (valid || walk.leaves)) {
    spendWork(walk.work, length >> 3)
    if (!rules.format(value)) valid = report(walk, node, 'format')
  }
  return valid
}

function charactersOf(text: string, work: WorkBudget): number {
  spendWork(work, text.length >> 3)
  let count = 0
  for (let i = 0; i < text.length; i++) {
    if ((text.codePointAt(i) as number) > 0xffff) i++
    count++
  }
  return count
}

/** The keywords that apply other schemas to the same value. */
function applyInPlace(node: SchemaNode, value: unknown, walk: Walk, evaluated: Evaluated | undefined): boolean {
  let valid = true
  if (node.ref && !within(node.ref, value, walk, evaluated, '$ref')) valid = false
  if (!valid && !walk.leaves) return false
  if (node.not && silently(node.not, value, walk, undefined)) valid = report(walk, node, 'not')
  if (node.anyOf && (valid || walk.leaves)) valid = applyAny(node, node.anyOf, value, walk, evaluated) && valid
  if (node.allOf)
    for (const [i, part] of node.allOf.entries()) {
      if (!valid && !walk.leaves) return false
      if (!within(part, value, walk, evaluated, 'allOf', i)) valid = false
    }
  if (node.oneOf && (valid || walk.leaves)) valid = applyOne(node, node.oneOf, value, walk, evaluated) && valid
  if (node.if && (valid || walk.leaves)) {
    const condition = evaluated && emptyLike(evaluated)
    const holds = silently(node.if, value, walk, condition)
    if (holds && condition && evaluated) merge(condition, evaluated, walk)
    const part = holds ? node.then : node.else
    if (part && !within(part, value, walk, evaluated, holds ? 'then' : 'else')) valid = false
  }
  return valid
}

function applyAny(
  node: SchemaNode,
  parts: readonly SchemaNode[],
  value: unknown,
  walk: Walk,
  evaluated: Evaluated | undefined,
): boolean {
  const before = walk.leaves?.length ?? 0
  let valid = false
  for (const [i, part] of parts.entries()) {
    const own = evaluated && emptyLike(evaluated)
    if (!within(part, value, walk, own, 'anyOf', i)) continue
    valid = true
    if (!evaluated || !own) break // which of the others hold does not matter
    merge(own, evaluated, walk)
  }
  if (!walk.leaves) return valid
  if (valid) walk.leaves.length = before
  else if (walk.leaves.length === before) report(walk, node, 'anyOf')
  return valid
}

function applyOne(
  node: SchemaNode,
  parts: readonly SchemaNode[],
  value: unknown,
  walk: Walk,
  evaluated: Evaluated | undefined,
): boolean {
  const before = walk.leaves?.length ?? 0
  let matches = 0
  for (const [i, part] of parts.entries()) {
    const own = evaluated && emptyLike(evaluated)
    if (!within(part, value, walk, own, 'oneOf', i)) continue
    if (++matches > 1) break
    if (evaluated && own) merge(own, evaluated, walk)
  }
  if (walk.leaves && matches > 0) walk.leaves.length = before
  if (matches === 1) return true
  if (walk.leaves?.length === before) report(walk, node, 'oneOf')
  return false
}

function applyObject(
  node: SchemaNode,
  rules: ObjectRules,
  value: Fields,
  walk: Walk,
  evaluated: Evaluated | undefined,
): boolean {
  let valid = true
  for (const key of rules.required) if (!Object.hasOwn(value, key)) valid = reportMissing(walk, node, key, 'required')
  for (const [key, names, keyword] of rules.dependentRequired)
    if (Object.hasOwn(value, key))
      for (const name of names) if (!Object.hasOwn(value, name)) valid = reportMissing(walk, node, name, keyword)
  if (!valid && !walk.leaves) return false
  for (const [key, part, keyword] of rules.dependentSchemas)
    if (Object.hasOwn(value, key) && !within(part, value, walk, evaluated, keyword, key)) valid = false
  for (const [key, part] of rules.properties) {
    if (!valid && !walk.leaves) return false
    if (!Object.hasOwn(value, key)) continue
    if (!inside(part, value[key], walk, key, 'properties', key)) valid = false
    evaluated?.keys.add(key)
  }
  if (rules.readsKeys && (valid || walk.leaves)) valid = applyToKeys(node, rules, value, walk, evaluated) && valid
  return valid
}

/** The keywords that look at every key a value has. */
function applyToKeys(
  node: SchemaNode,
  rules: ObjectRules,
  value: Fields,
  walk: Walk,
  evaluated: Evaluated | undefined,
): boolean {
  const keys = Object.keys(value)
  const { names, patterns, additional, unevaluated } = rules
  spendWork(walk.work, 2 * keys.length)
  let valid = true
  if (keys.length < rules.minProperties) valid = report(walk, node, 'minProperties')
  if (keys.length > rules.maxProperties) valid = report(walk, node, 'maxProperties')
  for (const key of keys) {
    if (!valid && !walk.leaves) return false
    if (names && !inside(names, key, walk, key, 'propertyNames')) valid = false
    let isCovered = rules.known.has(key)
    for (const [pattern, part, source] of patterns) {
      if (!pattern.test(key, walk.work)) continue
      isCovered = true
      if (!inside(part, value[key], walk, key, 'patternProperties', source)) valid = false
    }
    if (!isCovered && additional) {
      isCovered = true
      if (!inside(additional, value[key], walk, key, 'additionalProperties')) valid = false
    }
    if (isCovered) {
      if (!additional) evaluated?.keys.add(key)
    } else if (unevaluated && evaluated && !evaluated.all && !evaluated.keys.has(key)) {
      if (!inside(unevaluated, value[key], walk, key, 'unevaluatedProperties')) valid = false
    }
  }
  if (evaluated && (additional || unevaluated)) evaluated.all = true
  return valid
}

function applyArray(
  node: SchemaNode,
  rules: ArrayRules,
  value: readonly unknown[],
  walk: Walk,
  evaluated: Evaluated | undefined,
): boolean {
  const { first, rest, contains, unevaluated } = rules
  let valid = true
  if (value.length < rules.minItems) valid = report(walk, node, 'minItems')
  if (value.length > rules.maxItems) valid = report(walk, node, 'maxItems')
  for (let i = 0; i < value.length; i++) {
    if (!valid && !walk.leaves) return false
    const part = first[i] ?? rest
    if (!part) break
    const isFirst = i < first.length
    const keyword = isFirst ? rules.firstKeyword : rules.restKeyword
    if (!inside(part, value[i], walk, i, keyword, isFirst ? i : undefined)) valid = false
    if (isFirst) evaluated?.keys.add(i)
  }
  if (rest && evaluated) evaluated.all = true
  if (contains && (valid || walk.leaves)) valid = applyContains(node, rules, contains, value, walk, evaluated) && valid
  if (rules.unique && (valid || walk.leaves) && !isUnique(value, walk.work)) valid = report(walk, node, 'uniqueItems')
  if (!unevaluated || !evaluated || evaluated.all) return valid
  for (let i = 0; i < value.length; i++) {
    if (!valid && !walk.leaves) return false
    if (!evaluated.keys.has(i) && !inside(unevaluated, value[i], walk, i, 'unevaluatedItems')) valid = false
  }
  evaluated.all = true
  return valid
}

function applyContains(
  node: SchemaNode,
  { minContains, maxContains }: ArrayRules,
  contains: SchemaNode,
  value: readonly unknown[],
  walk: Walk,
  evaluated: Evaluated | undefined,
): boolean {
  let found = 0
  for (const [i, item] of value.entries()) {
    if (!silently(contains, item, walk, undefined)) continue
    found++
    evaluated?.keys.add(i)
  }
  return (found >= minContains && found <= maxContains) || report(walk, node, 'contains')
}

function isUnique(items: readonly unknown[], work: WorkBudget): boolean {
  spendWork(work, items.length >> 2)
  const simple = new Set<unknown>()
  const compound = new Set<string>()
  for (const item of items) {
    if (typeof item === 'object' && item !== null) compound.add(identityOf(item, work))
    else simple.add(item)
  }
  return simple.size + compound.size === items.length
}

/** Applies another schema to the same value. */
function within(
  node: SchemaNode,
  value: unknown,
  walk: Walk,
  evaluated: Evaluated | undefined,
  keyword: string,
  part?: string | number,
): boolean {
  if (!walk.leaves) return apply(node, value, walk, evaluated)
  const { at } = walk
  const { length } = at
  at.push(keyword)
  if (part !== undefined) at.push(String(part))
  const valid = apply(node, value, walk, evaluated)
  at.length = length
  return valid
}

/** Applies a schema to a part of the value. */
function inside(
  node: SchemaNode,
  value: unknown,
  walk: Walk,
  key: PropertyKey,
  keyword: string,
  part?: string | number,
): boolean {
  if (!walk.leaves) return apply(node, value, walk, undefined)
  walk.path.push(key)
  const valid = within(node, value, walk, undefined, keyword, part)
  walk.path.pop()
  return valid
}

/** Applies a schema that may fail without the value being wrong. */
function silently(node: SchemaNode, value: unknown, walk: Walk, evaluated: Evaluated | undefined): boolean {
  const { leaves } = walk
  walk.leaves = undefined
  const valid = apply(node, value, walk, evaluated)
  walk.leaves = leaves
  return valid
}

function emptyLike(_: Evaluated): Evaluated {
  return { all: false, keys: new Set() }
}

function merge(from: Evaluated, into: Evaluated, { work }: Walk): void {
  if (from.all) into.all = true
  spendWork(work, 1 + 4 * from.keys.size)
  for (const key of from.keys) into.keys.add(key)
}

function report({ leaves, path, at }: Walk, { schema }: SchemaNode, keyword: string): false {
  if (leaves && leaves.length < MAX_LEAVES) leaves.push({ keyword, schema, path: [...path], at: [...at, keyword] })
  return false
}

function reportMissing({ leaves, path, at }: Walk, { schema }: SchemaNode, key: string, keyword: string): false {
  if (leaves && leaves.length < MAX_LEAVES)
    leaves.push({ keyword: 'required', schema, path: [...path, key], at: [...at, keyword] })
  return false
}
