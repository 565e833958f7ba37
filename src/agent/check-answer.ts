// Structured answers: read, checked, corrected, given up.
import { toJsonValue } from '../base/to-json-value.ts'
import { type Content, textOf } from '../content/content.ts'
import type { Draft } from '../dispatch/host.ts'
import type { Result } from '../dispatch/outcome.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import { describeIssues } from '../schema/issues.ts'
import type { RunCallbackContext } from '../tool/callback-context.ts'
import { answerTextOf } from './answer-text.ts'
import { finalAnswer, MAX_CORRECTIONS, parseAnswer, SET_MODEL_RESPONSE, wrongAnswers } from './final-answer.ts'
import type { LlmAgent } from './llm-agent.ts'
import type { Place, RunHost } from './run-host.ts'
import type { Plan } from './tree.ts'

/** What was given with the answer tool instead of being said: the answer as an event, or the end of patience. */
export async function answerByTool(
  run: RunHost,
  plan: Plan,
  place: Place,
  context: RunCallbackContext,
): Promise<Draft | undefined> {
  const { output } = plan.agent
  const scope = run.fold.scopes.get(place.path)
  const answer = output && finalAnswer(output, scope)
  if (answer) return await givenAnswer(run, plan, place, context, answer.raw)
  const wrong = wrongAnswers(run.fold, place.path)
  if (wrong.length + (scope?.corrections ?? 0) <= MAX_CORRECTIONS) return undefined
  return invalidOutput(run, plan, place, String(wrong.at(-1)))
}

/** An answer given with the tool, said as text so that everybody finds it in the same place. */
async function givenAnswer(
  run: RunHost,
  { agent }: Plan,
  place: Place,
  context: RunCallbackContext,
  raw: unknown,
): Promise<Draft> {
  const { outputKey } = agent.options
  if (outputKey !== undefined) context.state.set(outputKey, (await agent.output?.parse(raw))?.value)
  const parts = [{ text: JSON.stringify(raw) }]
  return run.draft(agent.name, place, { role: 'model', parts }, context.take() ?? {})
}

/** Reads a structured answer; one that does not fit gives the event that says so. */
export async function checkAnswer(
  run: RunHost,
  plan: Plan,
  place: Place,
  context: RunCallbackContext,
  content: Content,
): Promise<Draft | undefined> {
  const { output, options } = plan.agent
  if (!output) return undefined
  const parsed = await parseAnswer(output, textOf(content))
  if (parsed.issues) return correction(run, plan, place, describeIssues(parsed.issues))
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
  result: Result,
  isOneOfMany: boolean,
): Promise<Result> {
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
function correction(run: RunHost, plan: Plan, place: Place, problem: string): Draft {
  const { agent, output } = plan
  const wrong = output === 'tool' ? wrongAnswers(run.fold, place.path).length : 0
  const told = wrong + (run.fold.scopes.get(place.path)?.corrections ?? 0)
  if (told >= MAX_CORRECTIONS) return invalidOutput(run, plan, place, problem)
  const how = output === 'tool' ? `Call ${SET_MODEL_RESPONSE} with your answer.` : 'Answer again, with JSON only.'
  const text = `Your answer does not have the required form: ${problem}. ${how}`
  return run.draft(agent.name, place, { role: 'user', parts: [{ text }] }, {})
}

function invalidOutput(run: RunHost, { agent }: Plan, place: Place, problem: string): Draft {
  const event = run.draft(agent.name, place, undefined, {})
  event.errorCode = 'INVALID_OUTPUT'
  event.errorMessage = `The answer of agent "${agent.name}" does not fit its outputSchema: ${problem}`
  return event
}
