// Reads the schemas of AI SDK tools: Standard Schemas, schemas of the AI SDK itself, or functions that return either.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import type { ParseResult, SchemaIssue } from '../../../core/schema/issues.ts'

/** Marks the AI SDK's own schemas. */
export const AI_SDK_SCHEMA: unique symbol = Symbol.for('vercel.ai.schema')
/** Marks the AI SDK's own schemas in version 5, in addition to `AI_SDK_SCHEMA`. */
export const AI_SDK_VALIDATOR: unique symbol = Symbol.for('vercel.ai.validator')

/** The schema of arguments: JSON Schema for the model, and a parser for what the model sends. */
export interface InputSchema {
  /** The schema the model sees. */
  readonly jsonSchema: JsonObject
  /** Validates arguments. */
  parse(value: unknown): ParseResult | Promise<ParseResult>
}

/** Reads the input schema of an AI SDK tool. `what` names the tool in errors. */
export function readInputSchema(given: unknown, what: string): InputSchema {
  const schema = unwrapSchema(given, what)
  const compiled = compileSchema(schema, what, { object: true })
  const { validate } = asAiSdkSchema(resolveLazySchema(given)) ?? {}
  if (typeof validate !== 'function') return compiled
  // the tool author's own validation: it can be stricter than the schema and can transform the value
  return { jsonSchema: compiled.jsonSchema, parse: async (value) => toParsed(await validate(value)) }
}

/** The Standard Schema or JSON Schema inside a schema of the AI SDK. */
export function unwrapSchema(given: unknown, what: string): object {
  const schema = resolveLazySchema(given)
  const issueFields = asAiSdkSchema(schema)
  if (!issueFields) return schema as object // compileSchema rejects other values
  const { jsonSchema } = issueFields
  if (isRecord(jsonSchema) && typeof jsonSchema.then !== 'function') return jsonSchema
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${what}: its JSON Schema is a promise. Await it before you pass the tool.`,
  )
}

function resolveLazySchema(given: unknown): unknown {
  const isLazy = typeof given === 'function' && !('~standard' in given)
  return isLazy ? given() : given
}

function asAiSdkSchema(schema: unknown): { jsonSchema: unknown; validate?: unknown } | undefined {
  if (typeof schema !== 'object' || schema === null || !(AI_SDK_SCHEMA in schema) || !('jsonSchema' in schema))
    return undefined
  return schema
}

function toParsed(result: unknown): ParseResult {
  if (isRecord(result) && result.success === true) return { value: result.value }
  const issues = readIssues(isRecord(result) ? result.error : undefined)
  return { issues: issues.length ? issues : [{ path: '', expected: 'what its schema accepts' }] }
}

/** Zod's issues, from the error or its cause. */
function readIssues(error: unknown): SchemaIssue[] {
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
