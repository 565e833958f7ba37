import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import type { ParseResult } from '../../../core/schema/issues.ts'
import type { ApiOperation } from '../operation.ts'
import { type LoadedDocument, loadDocument } from './load-document.ts'

/** A document of OpenAPI 3.1 with these paths. */
export function api(paths: unknown, rest: JsonObject = {}): JsonObject {
  return { openapi: '3.1.0', info: { title: 'Pets', version: '1' }, paths, ...rest }
}

/** A document of Swagger 2 with these paths. */
export function swagger(paths: unknown, rest: JsonObject = {}): JsonObject {
  return { swagger: '2.0', info: { title: 'Pets', version: '1' }, paths, ...rest }
}

/** Loads a document with one operation. Fails with the problems if the operation was left out. */
export async function loadOne(document: unknown): Promise<ApiOperation & Pick<LoadedDocument, 'problems'>> {
  const { operations, problems } = await loadDocument(document)
  const [operation] = operations
  if (!operation || operations.length > 1) throw new Error(`${operations.length} operations: ${problems.join(' ')}`)
  return { ...operation, problems }
}

/** Loads the operation POST /pets with this JSON body. */
export function loadBody(schema: unknown, rest: JsonObject = {}): ReturnType<typeof loadOne> {
  const post = { operationId: 'add', requestBody: { required: true, content: { 'application/json': { schema } } } }
  return loadOne(api({ '/pets': { post } }, rest))
}

/** Does the schema of the operation accept the arguments? `body` is the body, also if its fields are arguments. */
export function accepts(operation: ApiOperation, args: unknown): boolean {
  const { name, argumentsSchema } = operation
  const { parse } = compileSchema(argumentsSchema, name, { object: true })
  return 'value' in (parse(toArguments(operation, args)) as ParseResult)
}

/** The arguments of a call with this body: `body`, or its fields. */
function toArguments({ body }: ApiOperation, args: unknown): unknown {
  if (!body?.fields || body.fields.includes('body') || !isRecord(args) || !isRecord(args.body)) return args
  const { body: fields, ...others } = args
  return { ...others, ...fields }
}

/** Does the schema accept the value? */
export function fits(schema: JsonObject | undefined, value: unknown): boolean {
  return 'value' in (compileSchema(schema, 'schema').parse(value) as ParseResult)
}
