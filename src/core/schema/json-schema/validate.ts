// Applies a compiled JSON Schema (draft 2020-12, with the lists and dependencies of draft 7) to a value. Each step spends
// work before it runs, so no value and no schema can make validation slow. The functions call each other recursively, so
// they share one file.
import { spendWork, type WorkBudget, WorkLimitError } from '../work-budget.ts'
import { checkScalar, typeOfValue } from './check-scalar.ts'
import { createEvaluated, type Evaluated, mergeEvaluated } from './evaluated.ts'
import { hasUniqueItems } from './same-value.ts'
import { type ArrayRules, type ObjectRules, type SchemaNode, type Subschema, TYPE_BITS } from './schema-node.ts'
import { type Failure, reportFailure, reportMissing, type Validation } from './validation.ts'

/** Does the value fit the schema? Stops at the first failure. Throws `WorkLimitError`. */
export function isValid(node: SchemaNode, value: unknown, work: WorkBudget): boolean {
  return apply(node, value, { work, depth: 0, path: [], at: [], failures: undefined }, undefined)
}

/** The failures of a value that does not fit. If the work limit is reached, the failures found until then. */
export function findFailures(node: SchemaNode, value: unknown, work: WorkBudget): readonly Failure[] {
  const failures: Failure[] = []
  try {
    apply(node, value, { work, depth: 0, path: [], at: [], failures }, undefined)
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error
  }
  return failures
}

/** Schemas that may be applied one inside the other. The stack has room for several times as many. */
const MAX_NESTED = 1_000

function apply(node: SchemaNode, value: unknown, validation: Validation, evaluated: Evaluated | undefined): boolean {
  spendWork(validation.work, node.cost)
  if (node.isNever) return reportFailure(validation, node, 'false')
  const type = typeOfValue(value)
  if (type === 0) return reportFailure(validation, node, 'type')
  if (++validation.depth > MAX_NESTED) throw new WorkLimitError()
  const isObject = type === TYPE_BITS.object && node.object !== undefined
  const isArray = type === TYPE_BITS.array && node.array !== undefined
  const tracks = (isObject && node.object?.unevaluated) || (isArray && node.array?.unevaluated)
  const own = tracks ? createEvaluated() : evaluated
  let valid = checkScalar(node, value, type, validation)
  if (valid || validation.failures) valid = applyToSameValue(node, value, validation, own) && valid
  if (valid || validation.failures) {
    if (isObject) valid = applyObject(node, value as Fields, validation, own) && valid
    else if (isArray) valid = applyArray(node, value as unknown[], validation, own) && valid
  }
  if (tracks && own && evaluated) mergeEvaluated(own, evaluated, validation.work)
  validation.depth--
  return valid
}

type Fields = { readonly [key: string]: unknown }

/** The keywords that apply other schemas to the same value. */
function applyToSameValue(
  node: SchemaNode,
  value: unknown,
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  let valid = true
  if (node.ref && !applySubschema(node.ref, value, validation, evaluated)) valid = false
  if (!valid && !validation.failures) return false
  if (node.not && applySilently(node.not, value, validation, undefined)) valid = reportFailure(validation, node, 'not')
  if (node.anyOf && (valid || validation.failures)) valid = applyAnyOf(node, value, validation, evaluated) && valid
  if (node.allOf)
    for (const part of node.allOf) {
      if (!valid && !validation.failures) return false
      if (!applySubschema(part, value, validation, evaluated)) valid = false
    }
  if (node.oneOf && (valid || validation.failures)) valid = applyOneOf(node, value, validation, evaluated) && valid
  if (node.if && (valid || validation.failures)) valid = applyIf(node, value, validation, evaluated) && valid
  return valid
}

function applyAnyOf(
  node: SchemaNode,
  value: unknown,
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  const { failures } = validation
  const before = failures?.length ?? 0
  let valid = false
  for (const part of node.anyOf as readonly Subschema[]) {
    const own = evaluated && createEvaluated()
    if (!applySubschema(part, value, validation, own)) continue
    valid = true
    if (!evaluated || !own) break // the other branches only matter for what they cover
    mergeEvaluated(own, evaluated, validation.work)
  }
  if (!failures) return valid
  if (valid) failures.length = before
  else if (failures.length === before) reportFailure(validation, node, 'anyOf')
  return valid
}

function applyOneOf(
  node: SchemaNode,
  value: unknown,
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  const { failures } = validation
  const before = failures?.length ?? 0
  let matches = 0
  for (const part of node.oneOf as readonly Subschema[]) {
    const own = evaluated && createEvaluated()
    if (!applySubschema(part, value, validation, own)) continue
    if (++matches > 1) break
    if (evaluated && own) mergeEvaluated(own, evaluated, validation.work)
  }
  if (failures && matches > 0) failures.length = before
  if (matches === 1) return true
  if (failures?.length === before) reportFailure(validation, node, 'oneOf')
  return false
}

function applyIf(node: SchemaNode, value: unknown, validation: Validation, evaluated: Evaluated | undefined): boolean {
  const own = evaluated && createEvaluated()
  const holds = applySilently(node.if as Subschema, value, validation, own)
  if (holds && own && evaluated) mergeEvaluated(own, evaluated, validation.work)
  const part = holds ? node.then : node.else
  return !part || applySubschema(part, value, validation, evaluated)
}

function applyObject(
  node: SchemaNode,
  value: Fields,
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  const rules = node.object as ObjectRules
  let valid = true
  for (const key of rules.required)
    if (!Object.hasOwn(value, key)) valid = reportMissing(validation, node, key, 'required')
  for (const [key, names, keyword] of rules.dependentRequired)
    if (Object.hasOwn(value, key))
      for (const name of names) if (!Object.hasOwn(value, name)) valid = reportMissing(validation, node, name, keyword)
  if (!valid && !validation.failures) return false
  for (const [key, part] of rules.dependentSchemas)
    if (Object.hasOwn(value, key) && !applySubschema(part, value, validation, evaluated)) valid = false
  for (const [key, part] of rules.properties) {
    if (!valid && !validation.failures) return false
    if (!Object.hasOwn(value, key)) continue
    if (!applyToPart(part, key, value[key], validation)) valid = false
    evaluated?.keys.add(key)
  }
  if (rules.readsKeys && (valid || validation.failures))
    valid = applyToKeys(node, value, validation, evaluated) && valid
  return valid
}

/** The keywords that look at every key of the value. */
function applyToKeys(
  node: SchemaNode,
  value: Fields,
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  const { names, known, patterns, additional, unevaluated, minProperties, maxProperties } = node.object as ObjectRules
  const keys = Object.keys(value)
  spendWork(validation.work, 2 * keys.length)
  let valid = true
  if (keys.length < minProperties) valid = reportFailure(validation, node, 'minProperties')
  if (keys.length > maxProperties) valid = reportFailure(validation, node, 'maxProperties')
  for (const key of keys) {
    if (!valid && !validation.failures) return false
    if (names && !applyToPart(names, key, key, validation)) valid = false
    let isCovered = known.has(key)
    for (const [pattern, part] of patterns) {
      if (!pattern.test(key, validation.work)) continue
      isCovered = true
      if (!applyToPart(part, key, value[key], validation)) valid = false
    }
    if (!isCovered && additional) {
      isCovered = true
      if (!applyToPart(additional, key, value[key], validation)) valid = false
    }
    if (isCovered) {
      if (!additional) evaluated?.keys.add(key)
    } else if (unevaluated && evaluated && !evaluated.all && !evaluated.keys.has(key)) {
      if (!applyToPart(unevaluated, key, value[key], validation)) valid = false
    }
  }
  if (evaluated && (additional || unevaluated)) evaluated.all = true
  return valid
}

function applyArray(
  node: SchemaNode,
  value: readonly unknown[],
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  const { first, rest, contains, unique, minItems, maxItems } = node.array as ArrayRules
  let valid = true
  if (value.length < minItems) valid = reportFailure(validation, node, 'minItems')
  if (value.length > maxItems) valid = reportFailure(validation, node, 'maxItems')
  for (let i = 0; i < value.length; i++) {
    if (!valid && !validation.failures) return false
    const part = first[i] ?? rest
    if (!part) break
    if (!applyToPart(part, i, value[i], validation)) valid = false
    if (i < first.length) evaluated?.keys.add(i)
  }
  if (rest && evaluated) evaluated.all = true
  if (contains && (valid || validation.failures)) valid = applyContains(node, value, validation, evaluated) && valid
  if (unique && (valid || validation.failures) && !hasUniqueItems(value, validation.work))
    valid = reportFailure(validation, node, 'uniqueItems')
  if (!valid && !validation.failures) return false
  return applyToUnevaluatedItems(node, value, validation, evaluated) && valid
}

function applyContains(
  node: SchemaNode,
  value: readonly unknown[],
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  const { contains, minContains, maxContains } = node.array as ArrayRules
  let found = 0
  for (const [i, item] of value.entries()) {
    if (!applySilently(contains as Subschema, item, validation, undefined)) continue
    found++
    evaluated?.keys.add(i)
  }
  return (found >= minContains && found <= maxContains) || reportFailure(validation, node, 'contains')
}

function applyToUnevaluatedItems(
  { array }: SchemaNode,
  value: readonly unknown[],
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  const { unevaluated } = array as ArrayRules
  if (!unevaluated || !evaluated || evaluated.all) return true
  let valid = true
  for (let i = 0; i < value.length; i++) {
    if (!valid && !validation.failures) return false
    if (!evaluated.keys.has(i) && !applyToPart(unevaluated, i, value[i], validation)) valid = false
  }
  evaluated.all = true
  return valid
}

/** Applies a subschema to the same value. */
function applySubschema(
  { node, at }: Subschema,
  value: unknown,
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  if (!validation.failures) return apply(node, value, validation, evaluated)
  const { length } = validation.at
  validation.at.push(...at)
  const valid = apply(node, value, validation, evaluated)
  validation.at.length = length
  return valid
}

/** Applies a subschema to the part of the value at `key`. */
function applyToPart(subschema: Subschema, key: PropertyKey, part: unknown, validation: Validation): boolean {
  if (!validation.failures) return apply(subschema.node, part, validation, undefined)
  validation.path.push(key)
  const valid = applySubschema(subschema, part, validation, undefined)
  validation.path.pop()
  return valid
}

/** Applies a subschema whose failures do not make the value invalid. */
function applySilently(
  { node }: Subschema,
  value: unknown,
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  const { failures } = validation
  validation.failures = undefined
  const valid = apply(node, value, validation, evaluated)
  validation.failures = failures
  return valid
}
