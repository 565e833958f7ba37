import type ts from 'typescript-classic'
import { type JsonObject, setOwn } from '../../../core/base/json.ts'
import { readDocs } from './doc-comments.ts'
import { withDocs } from './doc-keywords.ts'
import { objectProblem } from './object-problem.ts'
import { primitiveParts } from './primitive-parts.ts'
import { type NestedPosition, readDocumented } from './read-union.ts'
import { isOwnCode, type Position, type Reading, refuse } from './reading.ts'
import { templatePattern } from './template-pattern.ts'
import { argumentNode, recordValueNode } from './type-nodes.ts'
import { orderedProperties } from './type-order.ts'

/** Reads an object type. */
export function readObject(reading: Reading, type: ts.Type, at: NestedPosition): JsonObject {
  const problem = objectProblem(reading, type)
  if (problem !== undefined) return refuse(reading, at, `The type of ${at.label} is ${problem}`)
  return readProperties(reading, type, at)
}

function readProperties(reading: Reading, type: ts.Type, at: NestedPosition): JsonObject {
  const { ts, checker } = reading
  const properties: JsonObject = {}
  const required: string[] = []
  const symbols = orderedProperties(reading, type)
  // `{}` accepts every value except null and undefined, so it does not say which properties there are
  if (symbols.length === 0 && checker.getIndexInfosOfType(type).length === 0) return { type: 'object' }
  for (const symbol of symbols) {
    if (symbol.name.startsWith('__@')) {
      refuse(reading, at, `The type of ${at.label} has a property with a symbol as its name. Use a string.`)
      continue
    }
    const property = checker.getTypeOfSymbol(symbol)
    const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0
    // `name?: never` says that the property is absent
    if (isOptional && checker.getNonNullableType(property).flags & ts.TypeFlags.Never) continue
    const inner = propertyPosition(reading, symbol, at)
    const docs = readDocs(reading, { symbol, typeNode: inner.typeNode })
    const schema = at.read(reading, property, { ...inner, allowsAny: docs.tags.some(({ name }) => name === 'any') })
    setOwn(properties, symbol.name, withDocs(reading, schema, docs, inner))
    if (!isOptional && !acceptsUndefined(ts, property)) required.push(symbol.name)
  }
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...indexSignatures(reading, type, at),
  }
}

function propertyPosition(reading: Reading, symbol: ts.Symbol, at: Position): Position {
  const { ts, checker } = reading
  const declaration = symbol.valueDeclaration ?? symbol.declarations?.[0]
  const label = propertyLabel(at.label, symbol.name)
  const node = declaration && isOwnCode(reading.program, declaration) ? declaration : at.node
  const isProperty = declaration && (ts.isPropertySignature(declaration) || ts.isPropertyDeclaration(declaration))
  const written = isProperty ? declaration.type : undefined
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(symbol))
  const isItsType = (one: ts.TypeNode | undefined): boolean =>
    one !== undefined && checker.getNonNullableType(checker.getTypeFromTypeNode(one)) === type
  // a mapped type keeps the declaration of a property, but may give it another type
  const nodes = [written, argumentNode(ts, checker, at.typeNode, written), recordValueNode(ts, checker, at.typeNode)]
  return { node, label, isOtherType: isProperty === true && !isItsType(written), typeNode: nodes.find(isItsType) }
}

/** `property "city"` inside of all arguments, `property "address.city"` inside of `property "address"` and of its items. */
function propertyLabel(parent: string, name: string): string {
  const path = /(?:property|parameter) "(.+)"$/.exec(parent)?.[1]?.split('.') ?? []
  const shown = path.length > 5 ? [...path.slice(0, 3), '…', path.at(-1)] : path
  return `property "${[...shown, name].join('.')}"`
}

/** Whether a type is a union with undefined. */
export function acceptsUndefined(ts: Reading['ts'], type: ts.Type): boolean {
  return type.isUnion() && type.types.some((part) => part.flags & ts.TypeFlags.Undefined)
}

/** The pattern of keys that are numbers, as JavaScript writes them, or template literals. */
function keyPattern(ts: Reading['ts'], key: ts.Type): string | undefined {
  if (key.flags & ts.TypeFlags.Number) return '^(0|-?[1-9][0-9]*)$'
  return key.flags & ts.TypeFlags.TemplateLiteral ? templatePattern(ts, key as ts.TemplateLiteralType) : undefined
}

function indexSignatures(reading: Reading, type: ts.Type, at: NestedPosition): JsonObject {
  const { ts, checker } = reading
  const patterns: JsonObject = {}
  let others: JsonObject | boolean = false
  const { node, read, allowsAny } = at
  const valueNode = recordValueNode(ts, checker, at.typeNode)
  for (const { keyType, type: value, declaration } of checker.getIndexInfosOfType(type)) {
    const [branded, second] = primitiveParts(ts, keyType)
    const key = branded && !second ? branded : keyType
    const inner = {
      node,
      read,
      allowsAny,
      label: `each value of ${at.label}`,
      typeNode: valueNode ?? declaration?.type,
    }
    const pattern = keyPattern(ts, key)
    if (key.flags & ts.TypeFlags.String) others = readDocumented(reading, value, inner)
    else if (pattern !== undefined) setOwn(patterns, pattern, readDocumented(reading, value, inner))
    else
      refuse(
        reading,
        at,
        `The keys of ${at.label} are ${checker.typeToString(keyType)}, which no schema describes. Use string.`,
      )
  }
  return {
    ...(Object.keys(patterns).length > 0 && { patternProperties: patterns }),
    // A result may have more properties than its type says: then they are not described.
    ...((others !== false || reading.side === 'arguments') && { additionalProperties: others }),
  }
}
