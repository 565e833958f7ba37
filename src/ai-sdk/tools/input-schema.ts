// Schemas as the AI SDK has them: Standard Schemas, its own branded ones, or functions that make one.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { ToolwrightError } from '../../error/error.ts'
import { compileSchema } from '../../schema/compile.ts'
import type { Issue, Parsed } from '../../schema/parsed.ts'

/** The mark of the AI SDK's own schemas, and the one AI SDK 5 has besides. */
export const SCHEMA: unique symbol = Symbol.for('vercel.ai.schema')
export const VALIDATOR: unique symbol = Symbol.for('vercel.ai.validator')

/** What a model is told about arguments, and the check of what it sends. */
export interface InputSchema {
  readonly jsonSchema: JsonObject
  parse(value: unknown): Parsed | Promise<Parsed>
}

export function readSchema(given: unknown, what: string): InputSchema {
  const schema = plainSchema(given, what)
  const compiled = compileSchema(schema, what, { object: true })
  const { validate } = branded(unlazy(given)) ?? {}
  if (typeof validate !== 'function') return compiled
  // its author's own check: it may be stricter than the schema, and may change the value
  return { jsonSchema: compiled.jsonSchema, parse: async (value) => toParsed(await validate(value)) }
}

/** A Standard Schema or plain JSON Schema. */
export function plainSchema(given: unknown, what: string): object {
  const schema = unlazy(given)
  const own = branded(schema)
  if (!own) return schema as object // anything else is refused by whoever compiles it
  const { jsonSchema } = own
  if (isRecord(jsonSchema) && typeof jsonSchema.then !== 'function') return jsonSchema
  throw new ToolwrightError('INVALID_CONFIG', `${what}: its JSON Schema comes later, as a promise. Await it first.`)
}

function unlazy(given: unknown): unknown {
  const isLazy = typeof given === 'function' && !('~standard' in given)
  return isLazy ? given() : given
}

function branded(schema: unknown): { jsonSchema: unknown; validate?: unknown } | undefined {
  if (typeof schema !== 'object' || schema === null || !(SCHEMA in schema) || !('jsonSchema' in schema))
    return undefined
  return schema
}

function toParsed(result: unknown): Parsed {
  if (isRecord(result) && result.success === true) return { value: result.value }
  const issues = issuesOf(isRecord(result) ? result.error : undefined)
  return { issues: issues.length ? issues : [{ path: '', expected: 'what its schema accepts' }] }
}

/** Zod's issues, wherever the error has them. */
function issuesOf(error: unknown): Issue[] {
  const { issues, cause }: JsonObject = typeof error === 'object' && error !== null ? own(error) : {}
  const inner: JsonObject = typeof cause === 'object' && cause !== null ? own(cause) : {}
  const found = [issues, cause, inner.issues].find((list) => Array.isArray(list)) as unknown[] | undefined
  return (found ?? []).filter(isRecord).map(({ path, message }) => ({
    path: Array.isArray(path) ? path.map(String).join('.') : '',
    expected: typeof message === 'string' ? message : 'another value',
  }))
}

function own({ issues, cause }: { issues?: unknown; cause?: unknown }): JsonObject {
  return { issues, cause }
}
