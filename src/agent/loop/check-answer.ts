// Structured answers: read, checked, corrected, given up.
import { toPlain } from '../../base/plain.ts'
import { type Content, textOf } from '../../content/content.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import type { CallResult } from '../../dispatch/outcome.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import { describeIssues } from '../../schema/parsed.ts'
import type { RunCallbackContext } from '../../tool/callback-context.ts'
import type { Plan } from '../agents/agent-tree.ts'
import { answerTextOf } from '../agents/answer-text.ts'
import { finalAnswer, MAX_CORRECTIONS, parseAnswer, SET_MODEL_RESPONSE, wrongAnswers } from '../agents/final-answer.ts'
import type { LlmAgent } from '../agents/llm-agent.ts'
import type { RunHost, ScopeFrame } from './run-host.ts'

/** What was given with the answer tool instead of being said: the answer as an event, or the end of patience. */
export async function answerByTool(
  run: RunHost,
  plan: Plan,
  frame: ScopeFrame,
  context: RunCallbackContext,
): Promise<EventDraft | undefined> {
  const { output } = plan.agent
  const scope = run.fold.scopes.get(frame.path)
  const answer = output && finalAnswer(output, scope)
  if (answer) return await givenAnswer(run, plan, frame, context, answer.raw)
  const wrong = wrongAnswers(run.fold, frame.path)
  if (wrong.length + (scope?.corrections ?? 0) <= MAX_CORRECTIONS) return undefined
  return invalidOutput(run, plan, frame, String(wrong.at(-1)))
}

/** An answer given with the tool, said as text so that everybody finds it in the same place. */
async function givenAnswer(
  run: RunHost,
  { agent }: Plan,
  frame: ScopeFrame,
  context: RunCallbackContext,
  raw: unknown,
): Promise<EventDraft> {
  const { outputKey } = agent.options
  if (outputKey !== undefined) context.state.set(outputKey, (await agent.output?.parse(raw))?.value)
  const parts = [{ text: JSON.stringify(raw) }]
  return run.recorder.draft(agent.name, frame, { role: 'model', parts }, context.take() ?? {})
}

/** Reads a structured answer; one that does not fit gives the event that says so. */
export async function checkAnswer(
  run: RunHost,
  plan: Plan,
  frame: ScopeFrame,
  context: RunCallbackContext,
  content: Content,
): Promise<EventDraft | undefined> {
  const { output, options } = plan.agent
  if (!output) return undefined
  const parsed = await parseAnswer(output, textOf(content))
  if (parsed.issues) return correction(run, plan, frame, describeIssues(parsed.issues))
  if (options.outputKey !== undefined) context.state.set(options.outputKey, parsed.value)
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
  const stateDelta = { ...actions.stateDelta, [outputKey]: toPlain(parsed.value).value }
  return { ...result, actions: { ...result.actions, stateDelta } }
}

/** Told to the model in its next request, or the end when it was told often enough. */
function correction(run: RunHost, plan: Plan, frame: ScopeFrame, problem: string): EventDraft {
  const { agent, output } = plan
  const wrong = output === 'tool' ? wrongAnswers(run.fold, frame.path).length : 0
  const told = wrong + (run.fold.scopes.get(frame.path)?.corrections ?? 0)
  if (told >= MAX_CORRECTIONS) return invalidOutput(run, plan, frame, problem)
  const how = output === 'tool' ? `Call ${SET_MODEL_RESPONSE} with your answer.` : 'Answer again, with JSON only.'
  const text = `Your answer does not have the required form: ${problem}. ${how}`
  return run.recorder.draft(agent.name, frame, { role: 'user', parts: [{ text }] }, {})
}

function invalidOutput(run: RunHost, { agent }: Plan, frame: ScopeFrame, problem: string): EventDraft {
  const event = run.recorder.draft(agent.name, frame, undefined, {})
  event.errorCode = 'INVALID_OUTPUT'
  event.errorMessage = `The answer of agent "${agent.name}" does not fit its outputSchema: ${problem}`
  return event
}
