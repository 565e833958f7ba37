// Reads sets of cases in ADK's form: JSON with keys in snake case or camel case.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { type Part, textOf } from '../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { ExpectedCall } from '../checks/check.ts'
import { checkEvalSet } from './check-eval-set.ts'
import type { EvalCase, EvalScenario, EvalSession, EvalSet, EvalTurn } from './eval-set.ts'
import { member } from './names.ts'
import { readContent } from './read-content.ts'

/**
 * Reads an `*.evalset.json` of ADK. Members of ours are below `toolwright` of a case: `answers`, `checks`, `inject`, `timeLimitMs`
 * and `recording`. Throws INVALID_CONFIG with what to change. `name` names the file in errors.
 *
 * @example
 * const set = readEvalSet(await readFile('desk.evalset.json', 'utf8'), 'desk.evalset.json')
 */
export function readEvalSet(text: string, name: string): EvalSet {
  const json = parseJson(text, name)
  const cases = member(json, 'eval_cases')
  const id = member(json, 'eval_set_id')
  if (typeof id !== 'string' || !Array.isArray(cases))
    throw invalid(name, 'needs "eval_set_id" and a list "eval_cases"', 'Pass an evalset.json as ADK writes it')
  const [title, description] = [json.name, json.description]
  const set = {
    id,
    ...(typeof title === 'string' && { name: title }),
    ...(typeof description === 'string' && { description }),
    cases: cases.map((given: unknown, at) => readCase(given, `case ${at + 1} of "${name}"`)),
  }
  checkEvalSet(set, `"${name}"`)
  return set
}

/** Parses JSON that must be an object. */
export function parseJson(text: string, name: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw invalid(name, `is not valid JSON: ${messageOf(error)}`, 'Correct the file')
  }
  if (isRecord(value)) return value
  throw invalid(name, `must hold an object, got ${kindOf(value)}`, 'Pass an evalset.json as ADK writes it')
}

function readCase(given: unknown, what: string): EvalCase {
  if (!isRecord(given)) throw invalid(what, `must be an object, got ${kindOf(given)}`, 'Correct the file')
  const id = member(given, 'eval_id')
  const conversation = member(given, 'conversation') ?? undefined
  const scenario = member(given, 'conversation_scenario') ?? undefined
  const session = member(given, 'session_input')
  const finalState = member(given, 'final_session_state')
  const rubrics = readRubrics(given.rubrics)
  const own = isRecord(given.toolwright) ? given.toolwright : {}
  return {
    id: String(id ?? ''),
    ...(conversation !== undefined && { turns: readTurns(conversation, what) }),
    ...(scenario !== undefined && { scenario: readScenario(scenario, what) }),
    ...(isRecord(session) && { session: readSession(session) }),
    ...(isRecord(finalState) && Object.keys(finalState).length > 0 && { finalState }),
    ...(rubrics.length > 0 && { rubrics }),
    ...own, // checked with the set
  }
}

function readTurns(conversation: unknown, what: string): EvalTurn[] {
  if (!Array.isArray(conversation)) throw invalid(what, 'has a "conversation" that is no list', 'Correct the file')
  return conversation.map((given: unknown) => {
    const user = isRecord(given) ? readContent(member(given, 'user_content')) : undefined
    if (!isRecord(given) || !user) throw invalid(what, 'has a turn without "user_content"', 'Correct the file')
    const data = member(given, 'intermediate_data')
    const reply = textOf(readContent(member(given, 'final_response')))
    const isText = user.parts.every(({ text }) => text !== undefined)
    return {
      user: isText ? textOf(user) : user.parts,
      ...(isRecord(data) && { calls: readCalls(data) }),
      ...(reply !== '' && { reply }),
    }
  })
}

/** Both forms of `intermediate_data`: `tool_uses`, or `invocation_events` with the calls in their parts. */
function readCalls(data: JsonObject): ExpectedCall[] {
  const uses = member(data, 'tool_uses')
  if (Array.isArray(uses)) return uses.filter(isRecord).map(({ name, args }) => toCall(name, args))
  const events = member(data, 'invocation_events')
  const contents = Array.isArray(events) ? events.filter(isRecord).map(({ content }) => readContent(content)) : []
  const parts: Part[] = contents.flatMap((content) => content?.parts ?? [])
  return parts.flatMap(({ functionCall }) => (functionCall ? toCall(functionCall.name, functionCall.args) : []))
}

function toCall(name: unknown, args: unknown): ExpectedCall {
  return { name: String(name), args: isRecord(args) ? args : {} }
}

function readScenario(given: unknown, what: string): EvalScenario {
  const json = isRecord(given) ? given : {}
  const [prompt, plan] = [member(json, 'starting_prompt'), member(json, 'conversation_plan')]
  if (typeof prompt !== 'string' || typeof plan !== 'string')
    throw invalid(what, 'has a scenario without "starting_prompt" and "conversation_plan"', 'Correct the file')
  const persona = member(json, 'user_persona') ?? undefined
  const text = typeof persona === 'string' ? persona : persona && JSON.stringify(persona)
  return { startingPrompt: prompt, conversationPlan: plan, ...(text !== undefined && { persona: text }) }
}

function readSession(given: JsonObject): EvalSession {
  const [userId, sessionId] = [member(given, 'user_id'), member(given, 'session_id')]
  return {
    ...(typeof userId === 'string' && userId !== '' && { userId }),
    ...(typeof sessionId === 'string' && sessionId !== '' && { sessionId }),
    ...(isRecord(given.state) && { state: given.state }),
  }
}

/** ADK's rubrics: `{ rubric_id, rubric_content: { text_property } }`. */
export function readRubrics(given: unknown): string[] {
  if (!Array.isArray(given)) return []
  return given.filter(isRecord).flatMap((rubric) => {
    const content = member(rubric, 'rubric_content')
    const text = isRecord(content) ? member(content, 'text_property') : undefined
    return typeof text === 'string' ? text : []
  })
}

function invalid(what: string, problem: string, advice: string): ToolwrightError {
  const subject = what.startsWith('case') ? what : `"${what}"`
  return new ToolwrightError('INVALID_CONFIG', `${subject[0]?.toUpperCase()}${subject.slice(1)} ${problem}. ${advice}.`)
}
