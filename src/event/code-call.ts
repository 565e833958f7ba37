// Code a model wrote is a call like any other: it has an id, it is dispatched, and it gets exactly one answer. Only its
// parts look different.
import type { JsonObject } from '../base/json.ts'
import type { CodeExecutionResult, FunctionCall, FunctionResponse, ModelOutput, Part } from '../content/content.ts'

/** What a code call is named where a name is needed: in callbacks, and in what other agents are told. */
export const EXECUTE_CODE = 'execute_code'

/** The call an executable part stands for; undefined when nobody is asked to run it. */
export function codeCallOf(parts: readonly Part[], at: number): FunctionCall | undefined {
  const code = parts[at]?.executableCode
  if (code?.id === undefined || hasResult(parts, at)) return undefined
  return { id: code.id, name: EXECUTE_CODE, args: { language: code.language, code: code.code } }
}

/** A model that runs its code itself says the result in the same breath. */
export function hasResult(parts: readonly Part[], at: number): boolean {
  const id = parts[at]?.executableCode?.id
  const next = parts[at + 1]?.codeExecutionResult
  if (next && (next.id === undefined || id === undefined)) return true
  return id !== undefined && resultIdsOf(parts).has(id)
}

/** Made once for a reply: it may hold as many pieces of code as it likes. */
const resultIds: WeakMap<readonly Part[], ReadonlySet<string>> = new WeakMap()

function resultIdsOf(parts: readonly Part[]): ReadonlySet<string> {
  let ids = resultIds.get(parts)
  if (!ids) {
    ids = new Set(parts.flatMap(({ codeExecutionResult: result }) => result?.id ?? []))
    resultIds.set(parts, ids)
  }
  return ids
}

/** The answer to a call as a part: a code call's is a result of its own kind. */
export function responsePart(
  call: { readonly id: string; readonly name: string; readonly isCode: boolean },
  response: JsonObject,
  modelOutput?: ModelOutput,
): Part {
  const { id, name } = call
  if (call.isCode) return { codeExecutionResult: { id, ...codeResultOf(response) } }
  return { functionResponse: modelOutput ? { id, name, response, modelOutput } : { id, name, response } }
}

/** What a part answers, as a response: undefined when it answers nothing. */
export function responseIn({ functionResponse, codeExecutionResult }: Part): FunctionResponse | undefined {
  if (functionResponse) return functionResponse
  if (codeExecutionResult?.id === undefined) return undefined
  const { id, outcome, output = '' } = codeExecutionResult
  return { id, name: EXECUTE_CODE, response: outcome === 'OUTCOME_OK' ? { output } : { error: output || outcome } }
}

/** What dispatch made of a code call, as a result: also a refusal, a callback's answer, or an output that was cut. */
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
