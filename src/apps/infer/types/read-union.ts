import type ts from 'typescript-classic'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { TYPE_MARK } from '../../../core/schema/marked-strings.ts'
import { readDocs } from './doc-comments.ts'
import { withDocs } from './doc-keywords.ts'
import { type Position, type Reading, refuse } from './reading.ts'
import { unionNodes } from './type-nodes.ts'
import { sortMembers } from './type-order.ts'

/** A position, and the function that reads the types inside. */
export interface NestedPosition extends Position {
  /** Reads a type inside. */
  readonly read: (reading: Reading, type: ts.Type, at: Position) => JsonObject
}

/** Reads a union. `undefined` is left out: in JSON, a property without a value is absent. */
export function readUnion(reading: Reading, union: ts.UnionType, { read, ...at }: NestedPosition): JsonObject {
  const { ts } = reading
  const members = orderedMembers(reading, union, at)
  const literals: (string | number | boolean)[] = []
  const branches: JsonObject[] = []
  let hasNull = false
  for (const { type, typeNode } of members) {
    if (type.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)) continue
    if (type.flags & ts.TypeFlags.Null) hasNull = true
    else if (type.isStringLiteral() || type.isNumberLiteral()) literals.push(type.value)
    else if (type.flags & ts.TypeFlags.BooleanLiteral) literals.push(reading.checker.typeToString(type) === 'true')
    else branches.push(readDocumented(reading, type, { ...at, read, typeNode }))
  }
  const all = [...literalSchemas(literals), ...branches, ...(hasNull ? [{ type: 'null' }] : [])]
  if (isAmbiguous(all)) {
    return refuse(
      reading,
      at,
      `The type of ${at.label} mixes string, Date or Uint8Array, which are all strings in JSON. Use one of them.`,
    )
  }
  const [only] = all
  return all.length === 1 && only ? only : { anyOf: all }
}

/** Reads a part of a type that is written on its own, such as an item: the comments of its aliases apply to it. */
export function readDocumented(reading: Reading, type: ts.Type, { read, ...at }: NestedPosition): JsonObject {
  return withDocs(reading, read(reading, type, at), readDocs(reading, { typeNode: at.typeNode }), at)
}

/** One schema for the literals of each type. */
function literalSchemas(literals: readonly (string | number | boolean)[]): JsonObject[] {
  const texts = literals.filter((value) => typeof value === 'string')
  const numbers = literals.filter((value) => typeof value === 'number')
  const booleans = literals.filter((value) => typeof value === 'boolean')
  return [
    ...(texts.length > 0 ? [literalSchema('string', texts)] : []),
    ...(numbers.length > 0 ? [literalSchema('number', numbers)] : []),
    ...(booleans.length === 1 ? [literalSchema('boolean', booleans)] : []),
    ...(booleans.length === 2 ? [{ type: 'boolean' }] : []),
  ]
}

function literalSchema(type: string, values: readonly unknown[]): JsonObject {
  return values.length === 1 ? { type, const: values[0] } : { type, enum: [...values] }
}

/** Whether a string could be meant for more than one branch, one of which converts it. */
function isAmbiguous(branches: readonly JsonObject[]): boolean {
  const texts = branches.filter((branch) => branch.type === 'string' && !('const' in branch) && !('enum' in branch))
  return texts.length > 1 && texts.some((branch) => isRecord(branch) && TYPE_MARK in branch)
}

interface Member {
  readonly type: ts.Type
  readonly typeNode?: ts.TypeNode | undefined
}

/** The members in the order of the source. Members that the source does not spell out follow, sorted. */
function orderedMembers(reading: Reading, union: ts.UnionType, { typeNode }: Position): Member[] {
  const { ts, checker } = reading
  const left = new Set(union.types)
  const members: Member[] = []
  for (const node of unionNodes(ts, checker, typeNode)) {
    const type = checker.getTypeFromTypeNode(node)
    // an enum, `boolean` or `keyof T` is itself a union
    for (const part of type.isUnion() ? sortMembers(reading, type, type.types) : [type]) {
      if (left.delete(part)) members.push({ type: part, typeNode: part === type ? node : undefined })
    }
  }
  const others = sortMembers(reading, union, [...left])
  return [...members, ...others.map((type) => ({ type }))]
}
