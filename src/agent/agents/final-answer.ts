// Structured output for models that cannot have tools and a response schema in one request.
import type { JsonObject } from '../../base/json.ts'
import { isRecord } from '../../base/json.ts'
import type { CallState } from '../../event/call-state.ts'
import type { Fold } from '../../event/fold.ts'
import { isFailure } from '../../event/fold.ts'
import type { ScopeState } from '../../event/scope-state.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import type { Parsed } from '../../schema/issues.ts'
import type { Tool } from '../../tool/tool.ts'

export const SET_MODEL_RESPONSE = 'set_model_response'

/** How often an agent is told to answer again before its answer is given up. */
export const MAX_CORRECTIONS = 2

/** The tool a model gives its final answer with; its arguments are checked like any other's. */
export function finalAnswerTool(output: CompiledSchema): Tool {
  const isObject = output.jsonSchema.type === 'object'
  const parametersJsonSchema: JsonObject = isObject
    ? output.jsonSchema
    : { type: 'object', properties: { result: output.jsonSchema }, required: ['result'] }
  const description = 'Give your final answer. Call this once, when you need no other tool any more.'
  const declaration = { name: SET_MODEL_RESPONSE, description, parametersJsonSchema }
  return {
    name: SET_MODEL_RESPONSE,
    description,
    effect: 'none',
    declaration: () => declaration,
    parse: (args) => output.parse(unwrapped(output, args)),
    run: () => ({ status: 'ok' }),
  }
}

/** The answer given with the tool in the latest reply, if there is one: as it was given. */
export function finalAnswer(output: CompiledSchema, scope: ScopeState | undefined): { raw: unknown } | undefined {
  const given = scope?.calls.find(isAnswer)
  return given && { raw: unwrapped(output, given.args) }
}

/** Schemas of anything but objects are given as `{ result }`. */
function unwrapped(output: CompiledSchema, args: unknown): unknown {
  return output.jsonSchema.type === 'object' || !isRecord(args) ? args : args.result
}

/** What was wrong with each answer that the tool refused. */
export function wrongAnswers(fold: Fold, path: string): unknown[] {
  const wrong: unknown[] = []
  const made = [...fold.calls.values()].slice(fold.scopes.get(path)?.reopenedAt)
  for (const { name, path: at, response } of made) {
    if (name !== SET_MODEL_RESPONSE || at !== path || !response || !isFailure(response.response)) continue
    wrong.push(response.response.error)
  }
  return wrong
}

function isAnswer(call: CallState): boolean {
  return call.name === SET_MODEL_RESPONSE && call.response !== undefined && !isFailure(call.response.response)
}

/** Reads an answer given as text: JSON, perhaps in a fenced block. */
export function parseAnswer(output: CompiledSchema, text: string): Parsed | Promise<Parsed> {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)
  try {
    return output.parse(JSON.parse(fenced?.[1] ?? text))
  } catch {
    return { issues: [{ path: 'answer', expected: 'JSON and nothing else' }] }
  }
}
