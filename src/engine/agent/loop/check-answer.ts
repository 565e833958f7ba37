// Checks structured answers. An invalid answer is corrected by the model a few times, then the agent fails.
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { type Content, textOf } from '../../../core/content/content.ts'
import type { CompiledSchema } from '../../../core/schema/compile.ts'
import { describeIssues } from '../../../core/schema/issues.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import type { CallResult } from '../../dispatch/outcome.ts'
import { answerTextOf } from '../agents/answer-text.ts'
import {
  findFinalAnswer,
  MAX_CORRECTIONS,
  parseAnswer,
  rejectedAnswers,
  SET_MODEL_RESPONSE,
} from '../agents/final-answer.ts'
import type { LlmAgent } from '../agents/llm-agent.ts'
import type { AgentTurn, ModelTurn } from './run-host.ts'

/**
 * The event for an answer given with the answer tool, or for `INVALID_OUTPUT` after too many rejected answers.
 * Undefined if the model must be asked.
 */
export async function toolAnswerEvent(turn: ModelTurn): Promise<EventDraft | undefined> {
  const { run, plan, frame } = turn
  const { output } = plan.agent
  const scope = run.fold.scopes.get(frame.path)
  const answer = output && findFinalAnswer(output, scope)
  if (answer) return await answerAsText(turn, answer.raw)
  const rejected = rejectedAnswers(run.fold, frame.path)
  if (rejected.length + (scope?.corrections ?? 0) <= MAX_CORRECTIONS) return undefined
  return invalidOutputEvent(turn, String(rejected.at(-1)))
}

/** A text event for an answer given with the tool, so that consumers find every answer as text. */
async function answerAsText({ run, plan, frame, context }: ModelTurn, raw: unknown): Promise<EventDraft> {
  const { agent } = plan
  const { outputKey } = agent.options
  if (outputKey !== undefined) context.state.set(outputKey, (await agent.output?.parse(raw))?.value)
  const parts = [{ text: JSON.stringify(raw) }]
  return run.recorder.draft(agent.name, frame, { role: 'model', parts }, context.take() ?? {})
}

/**
 * Checks a structured answer and writes it to the `outputKey`. Returns the event that asks for a correction if it is
 * invalid.
 */
export async function checkAnswer(turn: ModelTurn, content: Content): Promise<EventDraft | undefined> {
  const { output, options } = turn.plan.agent
  if (!output) return undefined
  const parsed = await parseAnswer(output, textOf(content))
  if (parsed.issues) return correctionEvent(turn, describeIssues(parsed.issues))
  if (options.outputKey !== undefined) turn.context.state.set(options.outputKey, parsed.value)
  return undefined
}

/**
 * Checks a tool result that a tool declared to be the final answer of an agent with an `outputSchema`. If it does not
 * match the schema, or the reply had other calls, it is not final: the model is asked for the answer.
 */
export async function checkFinalResult(
  { options: { outputKey } }: LlmAgent,
  output: CompiledSchema,
  result: CallResult,
  isOneOfMany: boolean,
): Promise<CallResult> {
  const { skipSummarization: _, ...actions } = result.actions ?? {}
  const { id, name } = result.call
  const text = answerTextOf({ role: 'tool', parts: [{ functionResponse: { id, name, response: result.response } }] })
  const parsed = isOneOfMany ? undefined : await parseAnswer(output, text)
  if (!parsed || parsed.issues) return { ...result, actions }
  if (outputKey === undefined) return result
  const stateDelta = { ...actions.stateDelta, [outputKey]: toJsonValue(parsed.value).value }
  return { ...result, actions: { ...result.actions, stateDelta } }
}

/** Asks the model for a correction in its next request, or ends the scope after too many corrections. */
function correctionEvent(turn: AgentTurn, problem: string): EventDraft {
  const { run, plan, frame } = turn
  const { agent, output } = plan
  const rejected = output === 'tool' ? rejectedAnswers(run.fold, frame.path).length : 0
  const corrections = rejected + (run.fold.scopes.get(frame.path)?.corrections ?? 0)
  if (corrections >= MAX_CORRECTIONS) return invalidOutputEvent(turn, problem)
  const how = output === 'tool' ? `Call ${SET_MODEL_RESPONSE} with your answer.` : 'Answer again, with JSON only.'
  const text = `Your answer does not have the required form: ${problem}. ${how}`
  return run.recorder.draft(agent.name, frame, { role: 'user', parts: [{ text }] }, {})
}

function invalidOutputEvent({ run, plan, frame }: AgentTurn, problem: string): EventDraft {
  const { agent } = plan
  const event = run.recorder.draft(agent.name, frame, undefined, {})
  event.errorCode = 'INVALID_OUTPUT'
  event.errorMessage = `The answer of agent "${agent.name}" does not match its outputSchema: ${problem}`
  return event
}
