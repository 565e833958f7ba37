// Turns a type, as the compiler has resolved it, into a JSON Schema.
import type ts from 'typescript-classic'
import type { JsonObject } from '../../../core/base/json.ts'
import { withDefinition } from './definitions.ts'
import { primitiveParts } from './primitive-parts.ts'
import { readObject } from './read-object.ts'
import { readDocumented, readUnion } from './read-union.ts'
import { isTooLarge, type Position, type Reading, refuse } from './reading.ts'
import { stringFormOf } from './string-form.ts'
import { templatePattern } from './template-pattern.ts'
import { elementNode, tupleNodes } from './type-nodes.ts'

/** Reads a type. Reports what cannot be a schema, and returns an empty schema for it. */
export function readType(reading: Reading, type: ts.Type, at: Position): JsonObject {
  if (isTooLarge(reading, at)) return {}
  const { ts } = reading
  const { flags } = type
  if (flags & ts.TypeFlags.Any) return readAny(reading, type, at)
  if (flags & ts.TypeFlags.Unknown) return {}
  if (type.isUnion()) {
    const read = (): JsonObject => readUnion(reading, type, { ...at, read: readType })
    return type.aliasSymbol ? withDefinition(reading, type, read) : read()
  }
  return readPrimitive(reading, type, at) ?? readStructure(reading, type, at)
}

function readAny(reading: Reading, type: ts.Type, at: Position): JsonObject {
  // `error` is the compiler's type for a name that it cannot find
  if ('intrinsicName' in type && type.intrinsicName === 'error')
    return refuse(
      reading,
      at,
      `The type of ${at.label} cannot be found. Check the name and its import; run tsc for the details.`,
    )
  if (at.allowsAny || reading.side === 'result') return {}
  return refuse(
    reading,
    at,
    `The type of ${at.label} is any, so nothing would be checked. Write its type, or allow any value with the tag @any in its doc comment.`,
  )
}

function readPrimitive(reading: Reading, type: ts.Type, at: Position): JsonObject | undefined {
  const { ts } = reading
  const { flags } = type
  if (type.isStringLiteral()) return { type: 'string', const: type.value }
  if (type.isNumberLiteral()) return { type: 'number', const: type.value }
  if (flags & ts.TypeFlags.BooleanLiteral)
    return { type: 'boolean', const: reading.checker.typeToString(type) === 'true' }
  if (flags & ts.TypeFlags.String) return { type: 'string' }
  if (flags & (ts.TypeFlags.Number | ts.TypeFlags.Enum)) return { type: 'number' }
  if (flags & ts.TypeFlags.Boolean) return { type: 'boolean' }
  if (flags & ts.TypeFlags.Null) return { type: 'null' }
  if (flags & ts.TypeFlags.TemplateLiteral) {
    const pattern = templatePattern(ts, type as ts.TemplateLiteralType)
    if (pattern !== undefined) return { type: 'string', pattern }
  }
  const advice = primitiveAdvice(reading, type)
  return advice === undefined ? undefined : refuse(reading, at, `The type of ${at.label} is ${advice}`)
}

/** What to write instead of a type that JSON has no value for. */
function primitiveAdvice({ ts, checker }: Reading, type: ts.Type): string | undefined {
  const { flags } = type
  const text = checker.typeToString(type)
  if (flags & ts.TypeFlags.BigIntLike) return `${text}, which JSON cannot carry. Use a string, or a number.`
  if (flags & ts.TypeFlags.ESSymbolLike) return `${text}, which JSON cannot carry. Use a string.`
  if (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void))
    return `${text}, which JSON cannot carry. Use null, or make the property optional.`
  if (flags & ts.TypeFlags.Never) return 'never, so no value fits. Write the type of the values.'
  if (flags & (ts.TypeFlags.TemplateLiteral | ts.TypeFlags.StringMapping))
    return `${text}, which no schema describes. Use string with the tag @pattern.`
  if (flags & (ts.TypeFlags.TypeParameter | ts.TypeFlags.Instantiable))
    return `${text}, an unresolved generic. Replace the type parameter with a type.`
  return undefined
}

function readStructure(reading: Reading, type: ts.Type, at: Position): JsonObject {
  const { ts, checker } = reading
  const [branded, second] = primitiveParts(ts, type)
  if (second)
    return refuse(
      reading,
      at,
      `The type of ${at.label} is ${checker.typeToString(type)}, which no schema describes. Use string with the tag @pattern.`,
    )
  if (branded) return readType(reading, branded, at)
  const form = stringFormOf(reading, type)
  if (form) return form
  if (type.flags & ts.TypeFlags.NonPrimitive) return { type: 'object' }
  // A recursive type has an interface or an alias: an array without one is never where the recursion starts.
  if (checker.isArrayType(type) && !type.aliasSymbol) return readArray(reading, type as ts.TypeReference, at)
  return withDefinition(reading, type, () => {
    if (checker.isTupleType(type)) return readTuple(reading, type as ts.TupleTypeReference, at)
    if (checker.isArrayType(type)) return readArray(reading, type as ts.TypeReference, at)
    return readObject(reading, type, { ...at, read: readType })
  })
}

function readArray(reading: Reading, type: ts.TypeReference, at: Position): JsonObject {
  const { ts, checker } = reading
  const [element] = checker.getTypeArguments(type)
  if (!element) return { type: 'array' }
  const typeNode = elementNode(ts, checker, at.typeNode)
  const items = { ...at, read: readType, label: `each item of ${at.label}`, typeNode }
  return { type: 'array', items: readDocumented(reading, element, items) }
}

function readTuple(reading: Reading, type: ts.TupleTypeReference, at: Position): JsonObject {
  const { ts, checker } = reading
  const types = checker.getTypeArguments(type)
  const { elementFlags } = type.target
  const nodes = tupleNodes(ts, checker, at.typeNode)
  const first: JsonObject[] = []
  let rest: JsonObject | false = false
  let required = 0
  for (const [index, element] of types.entries()) {
    const flag = elementFlags[index] ?? ts.ElementFlags.Required
    const item = { ...at, read: readType, label: `item ${index} of ${at.label}`, typeNode: nodes[index] }
    if (flag & ts.ElementFlags.Variadic || (rest && !(flag & ts.ElementFlags.Rest)))
      return refuse(reading, at, `The type of ${at.label} has items after a rest element. Put the rest element last.`)
    const schema = readDocumented(reading, element, item)
    if (flag & ts.ElementFlags.Rest) rest = schema
    else first.push(schema)
    if (flag & ts.ElementFlags.Required) required++
  }
  return {
    type: 'array',
    ...(first.length > 0 && { prefixItems: first }),
    ...(rest ? { items: rest } : { items: false, maxItems: first.length }),
    ...(required > 0 && { minItems: required }),
  }
}
