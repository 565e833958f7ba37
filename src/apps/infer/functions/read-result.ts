import type ts from 'typescript-classic'
import type { JsonObject } from '../../../core/base/json.ts'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { withDefinitions } from '../types/definitions.ts'
import { isObjectSchema } from '../types/object-schema.ts'
import { readType } from '../types/read-type.ts'
import { startReading } from '../types/reading.ts'

/** The JSON Schema of the result. Undefined if the return type has none, such as `void`, `any` or a class. */
export function readResult(
  ts: TypeScript,
  program: ts.Program,
  signature: ts.Signature,
  node: ts.Node,
): JsonObject | undefined {
  const checker = program.getTypeChecker()
  const type = resultType(checker, signature.getReturnType())
  const nothing =
    ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.Never
  const parts = type?.isUnion() ? type.types : [type]
  if (!type || parts.some((part) => !part || part.flags & nothing)) return undefined
  const reading = startReading(ts, program, 'result')
  const typeNode = resultNode(ts, signature.declaration?.type)
  const schema = readType(reading, type, { node, label: 'the result', typeNode })
  if (reading.mistakes.length > 0) return undefined
  return withDefinitions(reading, asResponse(schema, reading.definitions))
}

/** The type of the final value: through a promise, and the return type of a generator. */
function resultType(checker: ts.TypeChecker, type: ts.Type): ts.Type | undefined {
  const awaited = checker.getAwaitedType(type) ?? type
  if (!/^(Async)?(Generator|IterableIterator|Iterable|Iterator)$/.test(awaited.symbol?.name ?? '')) return awaited
  const [, result] = checker.getTypeArguments(awaited as ts.TypeReference)
  return result && (checker.getAwaitedType(result) ?? result)
}

function resultNode(ts: TypeScript, node: ts.Node | undefined): ts.TypeNode | undefined {
  if (!node || !ts.isTypeNode(node) || !ts.isTypeReferenceNode(node))
    return node && ts.isTypeNode(node) ? node : undefined
  const name = node.typeName.getText()
  if (name === 'Promise') return node.typeArguments?.[0]
  return /^(Async)?(Generator|Iterator)$/.test(name) ? node.typeArguments?.[1] : node
}

/** Results that are not objects are recorded as `{ result }`. */
function asResponse(schema: JsonObject, definitions: JsonObject): JsonObject {
  if (!isObjectSchema(schema, definitions))
    return { type: 'object', properties: { result: schema }, required: ['result'] }
  return 'anyOf' in schema ? { type: 'object', ...schema } : schema
}
