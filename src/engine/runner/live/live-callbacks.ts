// The callbacks of agents and plugins around a live model. The model speaks by itself, so that they see the setup before it speaks and
// the reply after it was heard.

import type { FunctionCall, Part } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { EventActions } from '../../../core/event/event.ts'
import { afterModel, beforeModel } from '../../agent/loop/model-callbacks.ts'
import type { AgentTurn, ModelTurn } from '../../agent/loop/run-host.ts'
import { RunCallbackContext } from '../../context/callback-context.ts'
import type { LlmRequest } from '../../model/llm-request.ts'

/** A reply as it is recorded. */
export interface CheckedReply {
  /** What the model said, as the callbacks left it. */
  readonly said: readonly Part[]
  /** The calls with the arguments that the callbacks left. All of them: the model waits for each. */
  readonly calls: readonly FunctionCall[]
  /** The calls that a callback removed. They must not run. */
  readonly removed: ReadonlySet<string>
  /** What the callbacks wrote. */
  readonly actions: EventActions
}

/** Lets `beforeModel` change the instruction and the tools. Throws if a callback returns a response: the model speaks by itself. */
export async function checkSetup(turn: ModelTurn, request: LlmRequest): Promise<void> {
  if (await beforeModel(turn, request)) throw blocked('beforeModel', turn.plan.agent.name, 'returned a response')
}

/** Lets `afterModel` change what is recorded of a reply, and remove calls or change their arguments before they run. */
export async function checkReply(
  agentTurn: AgentTurn,
  { said, calls, reply }: Pick<CheckedReply, 'said' | 'calls'> & { readonly reply: ReplyMetadata },
): Promise<CheckedReply> {
  const { run, plan, frame } = agentTurn
  const context = new RunCallbackContext(run, plan.agent.name, frame.branch)
  const parts = [...said, ...calls.map((functionCall) => ({ functionCall }))]
  const { usageMetadata, groundingMetadata } = reply
  const response = await afterModel(
    { ...agentTurn, context },
    {
      content: { role: 'model', parts: structuredClone(parts) },
      turnComplete: true,
      ...(usageMetadata && { usageMetadata }),
      ...(groundingMetadata && { groundingMetadata }),
    },
  )
  if (response.errorCode !== undefined) throw blocked('afterModel', plan.agent.name, 'returned an error')
  const left = new Set(response.content?.parts.flatMap(({ functionCall }) => functionCall ?? []))
  const kept = calls.map(({ id, name }) => {
    // a call with another name is another call: the one of the model is removed
    const found = [...left].find((one) => one.id === id && one.name === name)
    if (found) left.delete(found) // a model may use an id twice
    return found
  })
  return {
    said: response.content?.parts.filter(({ functionCall }) => !functionCall) ?? [],
    calls: calls.map((call, at) => ({ ...call, args: kept[at]?.args ?? call.args })),
    removed: new Set(calls.flatMap(({ id = '' }, at) => (kept[at] ? [] : [id]))),
    actions: context.take() ?? {},
  }
}

type ReplyMetadata = Pick<Awaited<ReturnType<typeof afterModel>>, 'usageMetadata' | 'groundingMetadata'>

/** The error of a callback that wants to speak instead of the model. */
export function blocked(hook: string, agentName: string, what: string): ToolwrightError {
  const problem = `A ${hook} callback of agent "${agentName}" ${what}`
  const advice = 'A live model speaks by itself, so that nothing can replace its reply: the live session ends'
  return new ToolwrightError('INVALID_REQUEST', `${problem}. ${advice}.`)
}
