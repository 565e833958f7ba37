// Checks a set of cases before any of them runs. A mistake names the case.
import { isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import {
  anything,
  checkOptions,
  flag,
  list,
  name,
  type OptionRules,
  oneOf,
  type Rule,
  record,
  text,
  wholeNumber,
} from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { isAgent } from '../../../engine/agent/agents/agent.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { checkChecks } from '../checks/check-rules.ts'
import { checkRecording } from '../recording/recording.ts'
import { checkFaults } from '../run/faults.ts'
import {
  type EvalAnswer,
  type EvalCase,
  type EvalScenario,
  type EvalSession,
  type EvalSet,
  type EvalTurn,
  MAX_USER_TURNS,
} from './eval-set.ts'

const SET_RULES: OptionRules<EvalSet> = {
  id: name,
  name: text,
  description: text,
  agent: { expects: 'an agent or a Runner', accepts: (value) => value instanceof Runner || isAgent(value) },
  checks: list,
  criteria: record,
  cases: list,
}
const CASE_RULES: OptionRules<EvalCase> = {
  id: name,
  turns: list,
  scenario: record,
  session: record,
  answers: list,
  checks: list,
  finalState: anything,
  rubrics: list,
  inject: list,
  timeLimitMs: wholeNumber(1),
  recording: record,
}
const userMessage: Rule = {
  expects: 'a text or a list of parts',
  accepts: (value) => typeof value === 'string' || (Array.isArray(value) && value.every(isRecord)),
}
const TURN_RULES: OptionRules<EvalTurn> = { user: userMessage, calls: list, reply: text, checks: list }
const SCENARIO_RULES: OptionRules<EvalScenario> = {
  startingPrompt: name,
  conversationPlan: text,
  persona: text,
  maxTurns: { expects: `a number from 1 to ${MAX_USER_TURNS}`, accepts: isTurnCount },
}
const SESSION_RULES: OptionRules<EvalSession> = { userId: name, sessionId: name, state: record }
const ANSWER_RULES: OptionRules<EvalAnswer> = {
  tool: name,
  kind: oneOf('confirmation', 'credential', 'input', 'longRunning'),
  key: text,
  args: anything,
  once: flag,
  approve: { expects: 'true or { payload, args }', accepts: (value) => value === true || isRecord(value) },
  deny: { expects: 'true or a reason', accepts: (value) => value === true || typeof value === 'string' },
  respond: anything,
}

/** Throws INVALID_CONFIG if a set is not valid. `what` names it in errors. */
export function checkEvalSet(set: EvalSet, what: string): void {
  checkOptions(`Eval set ${what}`, set, SET_RULES)
  if (set.checks) checkChecks(what, set.checks)
  const ids = new Set<string>()
  for (const [at, one] of set.cases.entries()) {
    const id = isRecord(one) && typeof one.id === 'string' ? one.id : ''
    if (id === '') throw invalid(`Case ${at + 1} of ${what} has no id`, 'Give each case an id of its own')
    if (ids.has(id)) throw invalid(`${what} has two cases with the id "${id}"`, 'Rename one of them')
    ids.add(id)
    checkCase(one, `case "${id}" of ${what}`)
  }
}

function checkCase(one: EvalCase, what: string): void {
  checkOptions(`The ${what}`, one, CASE_RULES)
  const { turns, scenario, session, answers, checks, inject, recording } = one
  if ((turns === undefined) === (scenario === undefined))
    throw invalid(
      `The ${what} needs either turns or a scenario`,
      'ADK calls them conversation and conversation_scenario',
    )
  if (turns?.length === 0) throw invalid(`The ${what} has no turns`, 'Add a message of the user')
  for (const turn of turns ?? []) checkTurn(turn, what)
  if (scenario) checkOptions(`The scenario of ${what}`, scenario, SCENARIO_RULES)
  if (session) checkOptions(`The session of ${what}`, session, SESSION_RULES)
  for (const answer of answers ?? []) checkOptions(`An answer of ${what}`, answer, ANSWER_RULES)
  if (checks) checkChecks(what, checks)
  if (inject) checkFaults(what, inject)
  if (recording) checkRecording(recording, what)
}

function checkTurn(turn: EvalTurn, what: string): void {
  checkOptions(`A turn of ${what}`, turn, TURN_RULES)
  if (turn.user === undefined) throw invalid(`A turn of ${what} has no message`, 'Set user')
  for (const call of turn.calls ?? []) {
    if (isRecord(call) && typeof call.name === 'string') continue
    throw invalid(`The calls of a turn of ${what} contain ${kindOf(call)}`, 'Write { name, args }')
  }
  if (turn.checks) checkChecks(what, turn.checks)
}

function isTurnCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_USER_TURNS
}

function invalid(problem: string, advice: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `${problem}. ${advice}.`)
}
