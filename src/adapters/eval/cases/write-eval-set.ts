// Writes cases in ADK's form. What a file holds besides them stays as it is.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { EvalCase, EvalTurn } from './eval-set.ts'
import { member, toCamel } from './names.ts'
import { parseJson } from './read-eval-set.ts'

/** The set a case is saved in. */
export interface SaveOptions {
  /** The file as it is. Undefined for a new one. */
  readonly text: string | undefined
  /** The name of the file, for errors. */
  readonly name: string
  /** The id of a new set. */
  readonly setId: string
  /** Replace a case with the same id, and keep its other members? Default false: it is an error. */
  readonly replace?: boolean | undefined
}

/** The file with one more case. Unknown members of the set and of its cases are kept, and so is the case of the names. */
export function saveCase(added: EvalCase, { text, name, setId, replace }: SaveOptions): string {
  const set: JsonObject = text === undefined ? { eval_set_id: setId, eval_cases: [] } : parseJson(text, name)
  const isCamel = Object.hasOwn(set, 'evalCases')
  const key = isCamel ? 'evalCases' : 'eval_cases'
  const cases = set[key] ?? []
  if (!Array.isArray(cases))
    throw new ToolwrightError('INVALID_CONFIG', `"${name}" has no list "${key}". Correct the file.`)
  const made = isCamel ? withCamelNames(caseJson(added)) : caseJson(added)
  const at = cases.findIndex((one: unknown) => isRecord(one) && member(one, 'eval_id') === added.id)
  if (at >= 0 && !replace)
    throw new ToolwrightError(
      'ALREADY_EXISTS',
      `"${name}" has a case "${added.id}" already. Choose another id, or replace it.`,
    )
  const saved = at < 0 ? [...cases, made] : cases.map((one, index) => (index === at ? { ...one, ...made } : one))
  return `${JSON.stringify({ ...set, [key]: saved }, null, 2)}\n`
}

function caseJson({ id, turns, session, answers, recording, timeLimitMs }: EvalCase): JsonObject {
  const { userId = 'eval-user', sessionId, state = {} } = session ?? {}
  return {
    eval_id: id,
    ...(turns && { conversation: turns.map(turnJson) }),
    session_input: {
      app_name: recording?.appName ?? '',
      user_id: userId,
      ...(sessionId !== undefined && { session_id: sessionId }),
      state,
    },
    toolwright: {
      ...(answers?.length && { answers }),
      ...(timeLimitMs !== undefined && { timeLimitMs }),
      ...(recording && { recording }),
    },
  }
}

function turnJson({ user, calls, reply }: EvalTurn): JsonObject {
  return {
    user_content: { role: 'user', parts: typeof user === 'string' ? [{ text: user }] : user },
    ...(reply !== undefined && { final_response: { role: 'model', parts: [{ text: reply }] } }),
    ...(calls && { intermediate_data: { tool_uses: calls, tool_responses: [], intermediate_responses: [] } }),
  }
}

/** The members of ADK in camel case. What is below `toolwright`, `state` and arguments is data. */
export function withCamelNames(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [toCamel(key), DATA.has(key) ? one : camelMembers(one)]),
  )
}

const DATA = new Set(['toolwright', 'state', 'args'])

function camelMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelMembers)
  return isRecord(value) ? withCamelNames(value) : value
}
