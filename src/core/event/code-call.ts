// Model-written code is a call like any other: it has an id, is dispatched and gets exactly one response. Only its parts
// have another type.
import type { JsonObject } from '../base/json.ts'
import type { CodeExecutionResult, FunctionCall, FunctionResponse, ModelOutput, Part } from '../content/content.ts'

/** The tool name of code calls, in callbacks and in the history that other agents see. */
export const EXECUTE_CODE = 'execute_code'

/** The call for an `executableCode` part; undefined when the part has no id or the model has run the code itself. */
export function codeCallOf(parts: readonly Part[], at: number): FunctionCall | undefined {
  const code = parts[at]?.executableCode
  if (code?.id === undefined || hasResult(parts, at)) return undefined
  return { id: code.id, name: EXECUTE_CODE, args: { language: code.language, code: code.code } }
}

/** Does the reply hold the result of this code? True for models that run their code themselves. */
export function hasResult(parts: readonly Part[], at: number): boolean {
  const id = parts[at]?.executableCode?.id
  const next = parts[at + 1]?.codeExecutionResult
  if (next && (next.id === undefined || id === undefined)) return true
  return id !== undefined && resultIdsOf(parts).has(id)
}

/** Cached per reply: a reply may hold many pieces of code. */
const resultIds: WeakMap<readonly Part[], ReadonlySet<string>> = new WeakMap()

function resultIdsOf(parts: readonly Part[]): ReadonlySet<string> {
  let ids = resultIds.get(parts)
  if (!ids) {
    ids = new Set(parts.flatMap(({ codeExecutionResult: result }) => result?.id ?? []))
    resultIds.set(parts, ids)
  }
  return ids
}

/** The part with the response to a call: `codeExecutionResult` for code, else `functionResponse`. */
export function responsePart(
  call: { readonly id: string; readonly name: string; readonly isCode: boolean },
  response: JsonObject,
  modelOutput?: ModelOutput,
): Part {
  const { id, name } = call
  if (call.isCode) return { codeExecutionResult: { id, ...codeResultOf(response) } }
  return { functionResponse: modelOutput ? { id, name, response, modelOutput } : { id, name, response } }
}

/** The response in a part; undefined when the part holds none. */
export function responseIn({ functionResponse, codeExecutionResult }: Part): FunctionResponse | undefined {
  if (functionResponse) return functionResponse
  if (codeExecutionResult?.id === undefined) return undefined
  const { id, outcome, output = '' } = codeExecutionResult
  return { id, name: EXECUTE_CODE, response: outcome === 'OUTCOME_OK' ? { output } : { error: output || outcome } }
}

/** A response as a code result. The response may also be an error, the result of a callback, or truncated output. */
function codeResultOf(response: JsonObject): Pick<CodeExecutionResult, 'outcome' | 'output'> {
  const { outcome, output, error, errorCode } = response
  if (typeof error === 'string') {
    return { outcome: errorCode === 'TIMEOUT' ? 'OUTCOME_DEADLINE_EXCEEDED' : 'OUTCOME_FAILED', output: error }
  }
  const known = outcomes.find((one) => one === `OUTCOME_${String(outcome)}`)
  if (known && typeof output === 'string') return { outcome: known, output }
  return { outcome: 'OUTCOME_OK', output: JSON.stringify(response) }
}

const outcomes = ['OUTCOME_OK', 'OUTCOME_FAILED', 'OUTCOME_DEADLINE_EXCEEDED'] as const
