// Structured answers: read, checked, corrected, given up.
import { toJsonValue } from '../../base/to-json-value.ts'
import { type Content, textOf } from '../../content/content.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import type { CallResult } from '../../dispatch/outcome.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import { describeIssues } from '../../schema/issues.ts'
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

/** What was given with the answer tool instead of being said: the answer as an event, or the end of patience. */
export async function toolAnswerEvent(turn: ModelTurn): Promise<EventDraft | undefined> {
  const { run, plan, frame } = turn
  const { output } = plan.agent
  const scope = run.fold.scopes.get(frame.path)
  const answer = output && findFinalAnswer(output, scope)
  if (answer) return await givenAnswer(turn, answer.raw)
  const wrong = rejectedAnswers(run.fold, frame.path)
  if (wrong.length + (scope?.corrections ?? 0) <= MAX_CORRECTIONS) return undefined
  return invalidOutput(turn, String(wrong.at(-1)))
}

/** An answer given with the tool, said as text so that everybody finds it in the same place. */
async function givenAnswer({ run, plan, frame, context }: ModelTurn, raw: unknown): Promise<EventDraft> {
  const { agent } = plan
  const { outputKey } = agent.options
  if (outputKey !== undefined) context.state.set(outputKey, (await agent.output?.parse(raw))?.value)
  const parts = [{ text: JSON.stringify(raw) }]
  return run.recorder.draft(agent.name, frame, { role: 'model', parts }, context.take() ?? {})
}

/** Reads a structured answer; one that does not fit gives the event that says so. */
export async function checkAnswer(turn: ModelTurn, content: Content): Promise<EventDraft | undefined> {
  const { output, options } = turn.plan.agent
  if (!output) return undefined
  const parsed = await parseAnswer(output, textOf(content))
  if (parsed.issues) return correction(turn, describeIssues(parsed.issues))
  if (options.outputKey !== undefined) turn.context.state.set(options.outputKey, parsed.value)
  return undefined
}

/**
 * Checks a tool's result that is to be the final answer of an agent with an `outputSchema`. One that does not fit, or is
 * not the only one of its reply, is not final: the model is asked for the answer.
 */
export async function checkFinalResult(
  { options: { outputKey } }: LlmAgent,
  output: CompiledSchema,
  result: CallResult,
  isOneOfMany: boolean,
): Promise<CallResult> {
  const { skipSummarization: _, ...actions } = result.actions ?? {}
  const { id, name } = result.call
  const said = answerTextOf({ role: 'tool', parts: [{ functionResponse: { id, name, response: result.response } }] })
  const parsed = isOneOfMany ? undefined : await parseAnswer(output, said)
  if (!parsed || parsed.issues) return { ...result, actions }
  if (outputKey === undefined) return result
  const stateDelta = { ...actions.stateDelta, [outputKey]: toJsonValue(parsed.value).value }
  return { ...result, actions: { ...result.actions, stateDelta } }
}

/** Told to the model in its next request, or the end when it was told often enough. */
function correction(turn: AgentTurn, problem: string): EventDraft {
  const { run, plan, frame } = turn
  const { agent, output } = plan
  const wrong = output === 'tool' ? rejectedAnswers(run.fold, frame.path).length : 0
  const told = wrong + (run.fold.scopes.get(frame.path)?.corrections ?? 0)
  if (told >= MAX_CORRECTIONS) return invalidOutput(turn, problem)
  const how = output === 'tool' ? `Call ${SET_MODEL_RESPONSE} with your answer.` : 'Answer again, with JSON only.'
  const text = `Your answer does not have the required form: ${problem}. ${how}`
  return run.recorder.draft(agent.name, frame, { role: 'user', parts: [{ text }] }, {})
}

function invalidOutput({ run, plan, frame }: AgentTurn, problem: string): EventDraft {
  const { agent } = plan
  const event = run.recorder.draft(agent.name, frame, undefined, {})
  event.errorCode = 'INVALID_OUTPUT'
  event.errorMessage = `The answer of agent "${agent.name}" does not fit its outputSchema: ${problem}`
  return event
}
