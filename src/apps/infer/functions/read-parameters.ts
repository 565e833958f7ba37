import type ts from 'typescript-classic'
import { isRecord, type JsonObject, setOwn } from '../../../core/base/json.ts'
import type { InferredParameter } from '../../../engine/tool/functions/inferred-function.ts'
import { withDefinitions, withoutReference } from '../types/definitions.ts'
import { mergeDocs, readDocs, usedTags } from '../types/doc-comments.ts'
import { withDocs } from '../types/doc-keywords.ts'
import type { Docs } from '../types/docs.ts'
import { objectProblem } from '../types/object-problem.ts'
import { isObjectSchema } from '../types/object-schema.ts'
import { primitiveParts } from '../types/primitive-parts.ts'
import { acceptsUndefined } from '../types/read-object.ts'
import { readType } from '../types/read-type.ts'
import { type Position, type Reading, refuse } from '../types/reading.ts'
import { stringFormOf } from '../types/string-form.ts'
import { constantOf } from './constant-value.ts'
import { type ParameterDocs, parameterDocs } from './parameter-docs.ts'
import { isContextType } from './toolwright-types.ts'

/** The function whose parameters are read. */
interface Owner {
  /** Its name in mistakes: `Function "getWeather"`. */
  readonly called: string
  readonly node: ts.Node
  readonly symbol: ts.Symbol | undefined
  /** Whether `tool(fn, { parameters })` gives the schema. */
  readonly isExplicit?: boolean
}

interface Parameter {
  readonly symbol: ts.Symbol
  readonly declaration: ts.ParameterDeclaration | undefined
  readonly type: ts.Type
}

interface ReadParameters {
  readonly parameters: JsonObject
  readonly call: readonly InferredParameter[]
}

/** Reads the parameters: one object with all arguments, or several parameters by name. The context is not an argument. */
export function readParameters(reading: Reading, signature: ts.Signature, owner: Owner): ReadParameters {
  const { ts, checker } = reading
  const all = signature.parameters.map((symbol): Parameter => {
    const declaration = symbol.valueDeclaration
    const type = checker.getTypeOfSymbolAtLocation(symbol, declaration ?? owner.node)
    return { symbol, declaration: declaration && ts.isParameter(declaration) ? declaration : undefined, type }
  })
  const docs = parameterDocs(ts, checker, owner.symbol)
  const [only, ...others] = all.filter(({ type }) => !isContext(reading, type))
  const isOne = only && others.length === 0
  if (isOne && (isArguments(reading, only) || (owner.isExplicit && isUnionOfObjects(reading, only)))) {
    const schema = readAllArguments(reading, only, docs)
    const call = all.map((one): InferredParameter => (one === only ? { allArguments: true } : { context: true }))
    return { parameters: withDefinitions(reading, schema), call }
  }
  return readByName(reading, all, { ...owner, docs })
}

function isContext({ checker }: Reading, type: ts.Type): boolean {
  return isContextType(checker.getNonNullableType(type))
}

/** Whether the only parameter is the object of all arguments: a destructured parameter, or a type with named properties. */
function isArguments(reading: Reading, { declaration, type }: Parameter): boolean {
  const { ts, checker } = reading
  if (declaration?.dotDotDotToken) return false
  if (declaration && ts.isObjectBindingPattern(declaration.name)) return true
  if (type.flags & ts.TypeFlags.Unknown) return false // without null it would be `{}`
  const plain = checker.getNonNullableType(type)
  const isObject =
    plain.flags & ts.TypeFlags.Object || (plain.isIntersection() && primitiveParts(ts, plain).length === 0)
  if (!isObject || stringFormOf(reading, plain) || checker.isArrayType(plain) || checker.isTupleType(plain))
    return false
  if (objectProblem(reading, plain) !== undefined) return false
  // a type with an index signature only, such as Record<string, number>, is one value and has no named arguments
  return checker.getPropertiesOfType(plain).length > 0 || checker.getIndexInfosOfType(plain).length === 0
}

/** Explicit parameters may be a union of objects: then the one parameter takes all arguments. */
function isUnionOfObjects({ ts, checker }: Reading, { type }: Parameter): boolean {
  const plain = checker.getNonNullableType(type)
  return plain.isUnion() && plain.types.every(({ flags }) => flags & ts.TypeFlags.Object)
}

function readAllArguments(reading: Reading, parameter: Parameter, docs: ParameterDocs): JsonObject {
  const { ts, checker } = reading
  const { declaration, type, symbol } = parameter
  const node = declaration ?? (symbol.valueDeclaration as ts.Node)
  const at = { node, label: 'all arguments', typeNode: declaration?.type }
  const schema = asObject(reading, readType(reading, checker.getNonNullableType(type), at), at)
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const isPattern = declaration !== undefined && ts.isObjectBindingPattern(declaration.name)
  for (const [name, property] of Object.entries(properties)) {
    if (!isRecord(property)) continue
    const described = docs.ofProperty(isPattern ? undefined : symbol.name, name)
    if (property.description === undefined && described) property.description = described
  }
  if (isPattern) addDefaults(reading, declaration.name as ts.ObjectBindingPattern, schema)
  return schema
}

/** The schema of all arguments: an object at the top, also for a union of objects or a type without properties. */
function asObject(reading: Reading, schema: JsonObject, at: Position): JsonObject {
  const { type, anyOf, properties, ...rest } = withoutReference(reading, schema)
  if (Array.isArray(anyOf) && anyOf.every((branch) => isObjectSchema(branch, reading.definitions)))
    return { type: 'object', anyOf, ...rest }
  if (type === 'object')
    return { type, properties: properties ?? {}, ...(properties ? rest : { additionalProperties: false }) }
  if (reading.mistakes.length > 0) return schema
  return refuse(reading, at, 'The type of the destructured parameter is not an object. Give the parameter a name.')
}

/** Adds the defaults of a destructured parameter: `{ units = 'celsius' }`. */
function addDefaults({ ts, checker }: Reading, pattern: ts.ObjectBindingPattern, schema: JsonObject): void {
  const { properties, required = [] } = schema as { properties?: JsonObject; required?: string[] }
  for (const { propertyName, name, initializer } of pattern.elements) {
    const key = propertyName ?? name
    if (!initializer || (!ts.isIdentifier(key) && !ts.isStringLiteral(key))) continue
    const property = properties && Object.hasOwn(properties, key.text) ? properties[key.text] : undefined
    const value = constantOf(ts, checker, initializer)
    if (isRecord(property) && value !== undefined && !('default' in property) && !required.includes(key.text))
      property.default = value
  }
}

function readByName(
  reading: Reading,
  all: readonly Parameter[],
  owner: Owner & { docs: ParameterDocs },
): ReadParameters {
  const { ts } = reading
  const properties: JsonObject = {}
  const required: string[] = []
  const call: InferredParameter[] = []
  for (const parameter of all) {
    const { symbol, declaration, type } = parameter
    if (isContext(reading, type)) {
      call.push({ context: true })
      continue
    }
    const node = declaration ?? owner.node
    if (declaration && !ts.isIdentifier(declaration.name)) {
      const which = all.length === 1 ? 'a destructured array' : 'a destructured parameter beside others'
      const message = `${owner.called} has ${which}. Give it a name, or use one object parameter.`
      refuse(reading, { node, label: '' }, message)
      call.push({ argument: '' }) // keeps the order of the others
      continue
    }
    const at = { node, label: `parameter "${symbol.name}"` }
    const schema = readOne(reading, parameter, at, owner.docs)
    setOwn(properties, symbol.name, schema)
    const isRest = declaration?.dotDotDotToken !== undefined
    const isOptional = isRest ? schema.minItems === undefined : isOptionalParameter(reading, parameter)
    if (!isOptional) required.push(symbol.name)
    call.push(isRest ? { argument: symbol.name, rest: true } : { argument: symbol.name })
  }
  const schema = { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
  return { parameters: withDefinitions(reading, schema), call }
}

/** Whether the argument may be left out, also before a required context. */
function isOptionalParameter({ ts, checker }: Reading, { declaration, type }: Parameter): boolean {
  if (acceptsUndefined(ts, type)) return true
  if (!declaration) return false
  const { initializer, questionToken } = declaration
  return initializer !== undefined || questionToken !== undefined || checker.isOptionalParameter(declaration)
}

function readOne(
  reading: Reading,
  { symbol, declaration, type }: Parameter,
  at: Position,
  docs: ParameterDocs,
): JsonObject {
  const { ts, checker } = reading
  const typeNode = declaration?.type
  const tags = usedTags(reading, docs.tagsOf(declaration), declaration && [declaration])
  const own: Docs = { description: docs.ofParameter(symbol, declaration), tags }
  const merged = mergeDocs([own, readDocs(reading, { typeNode })])
  const allowsAny = merged.tags.some(({ name }) => name === 'any') || docs.allowsAny(symbol.name)
  const schema = readType(reading, type, { ...at, typeNode, allowsAny })
  const documented = withDocs(reading, schema, merged, at)
  const value = declaration?.initializer && constantOf(ts, checker, declaration.initializer)
  return value === undefined || 'default' in documented ? documented : { ...documented, default: value }
}
