// Structured answers: the tool for models that do not accept tools and a response schema in one request, and parsing.
import type { JsonObject } from '../../../core/base/json.ts'
import { isRecord } from '../../../core/base/json.ts'
import type { Fold } from '../../../core/event/fold.ts'
import { type CallState, isFailure, type ScopeState } from '../../../core/event/invocation-state.ts'
import type { CompiledSchema } from '../../../core/schema/compile.ts'
import type { ParseResult } from '../../../core/schema/issues.ts'
import type { Tool } from '../../tool/tool.ts'

/** The name of the tool that a model calls to return its final answer. */
export const SET_MODEL_RESPONSE = 'set_model_response'

/** How often a model is asked to correct its answer before the agent fails with `INVALID_OUTPUT`. */
export const MAX_CORRECTIONS = 2

/**
 * The tool that a model calls to return its final answer. The arguments are the answer and are checked like those of
 * other tools.
 */
export function finalAnswerTool(output: CompiledSchema): Tool {
  const isObject = output.jsonSchema.type === 'object'
  const parametersJsonSchema: JsonObject = isObject
    ? output.jsonSchema
    : { type: 'object', properties: { result: output.jsonSchema }, required: ['result'] }
  const description = 'Return your final answer. Call this tool once, when you need no other tool.'
  const declaration = { name: SET_MODEL_RESPONSE, description, parametersJsonSchema }
  return {
    name: SET_MODEL_RESPONSE,
    description,
    effect: 'none',
    declaration: () => declaration,
    parse: (args) => output.parse(unwrapAnswer(output, args)),
    run: () => ({ status: 'ok' }),
  }
}

/**
 * The answer in the accepted call of the final answer tool, before the schema transforms it. Undefined if the latest
 * reply has no such call.
 */
export function findFinalAnswer(output: CompiledSchema, scope: ScopeState | undefined): { raw: unknown } | undefined {
  const call = scope?.calls.find(isAcceptedAnswer)
  return call && { raw: unwrapAnswer(output, call.args) }
}

/**
 * The answer in the arguments of the tool. Arguments must be an object, so the model sends an answer that is not an
 * object as `{ result }`.
 */
function unwrapAnswer(output: CompiledSchema, args: unknown): unknown {
  return output.jsonSchema.type === 'object' || !isRecord(args) ? args : args.result
}

/** The error of each answer in this scope that the tool rejected. */
export function rejectedAnswers(fold: Fold, path: string): unknown[] {
  const errors: unknown[] = []
  const calls = [...fold.calls.values()].slice(fold.scopes.get(path)?.reopenedAt)
  for (const { name, path: callPath, response } of calls) {
    if (name !== SET_MODEL_RESPONSE || callPath !== path || !response || !isFailure(response.response)) continue
    errors.push(response.response.error)
  }
  return errors
}

function isAcceptedAnswer(call: CallState): boolean {
  return call.name === SET_MODEL_RESPONSE && call.response !== undefined && !isFailure(call.response.response)
}

/** Parses an answer that is text: JSON, optionally in a fenced block. */
export function parseAnswer(output: CompiledSchema, text: string): ParseResult | Promise<ParseResult> {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)
  try {
    return output.parse(JSON.parse(fenced?.[1] ?? text))
  } catch {
    return { issues: [{ path: 'answer', expected: 'JSON and nothing else' }] }
  }
}
