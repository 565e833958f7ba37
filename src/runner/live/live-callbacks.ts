// The callbacks of agents and plugins around a live model. The model speaks by itself, so that they see the setup before it speaks and
// the reply after it was heard.
import type { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { afterAgent, beforeAgent } from '../../agent/loop/agent-callbacks.ts'
import { afterModel, beforeModel } from '../../agent/loop/model-callbacks.ts'
import type { AgentTurn, ModelTurn } from '../../agent/loop/run-host.ts'
import type { FunctionCall, Part } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { EventActions } from '../../event/event.ts'
import { RunCallbackContext } from '../../tool/callback-context.ts'
import type { LlmRequest } from '../../tool/llm-request.ts'
import type { RunData } from '../run/run-data.ts'
import { frameOf, speakingAgent } from './live-agent.ts'
import type { LiveReply } from './live-reply.ts'

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

const NONE: ReadonlySet<string> = new Set()

/** The callbacks of one live session. */
export class LiveCallbacks {
  readonly #run: RunData
  #speaking: LlmAgent | undefined

  constructor(run: RunData) {
    this.#run = run
  }

  /** Does the agent that speaks, or the one before it, have callbacks for the change? */
  get hasChange(): boolean {
    const { tree } = this.#run
    const before = this.#speaking && tree.hooks(this.#speaking).afterAgent
    return Boolean(before?.length || tree.hooks(speakingAgent(this.#run)).beforeAgent.length)
  }

  /** The agent begins to speak: `afterAgent` of the one before, then `beforeAgent`. Throws if a callback answers instead of it. */
  async enter(): Promise<void> {
    const agent = speakingAgent(this.#run)
    if (agent === this.#speaking) return
    await this.leave()
    this.#speaking = agent
    const frame = frameOf(this.#run)
    if (frame.tree.hooks(agent).beforeAgent.length && (await beforeAgent(this.#run, agent, frame)))
      throw blocked('beforeAgent', agent.name, 'returned content')
  }

  /** The agent no longer speaks. Content of `afterAgent` is recorded, not spoken. */
  async leave(): Promise<void> {
    const agent = this.#speaking
    this.#speaking = undefined
    const frame = frameOf(this.#run)
    if (agent && frame.tree.hooks(agent).afterAgent.length) await afterAgent(this.#run, agent, frame)
  }

  /** Lets callbacks change the instruction and the tools. Throws if one returns a response: the model speaks by itself. */
  async beforeModel(turn: ModelTurn, request: LlmRequest): Promise<void> {
    const { hooks, agent } = turn.plan
    if (hooks.beforeModel.length && (await beforeModel(turn, request)))
      throw blocked('beforeModel', agent.name, 'returned a response')
  }

  /** Lets callbacks change what is recorded of a reply, and remove calls or change their arguments before they run. */
  async afterModel(
    agentTurn: AgentTurn,
    { said, calls, reply }: { said: readonly Part[]; calls: readonly FunctionCall[]; reply: LiveReply },
  ): Promise<CheckedReply> {
    const { plan, frame } = agentTurn
    if (plan.hooks.afterModel.length === 0) return { said, calls, removed: NONE, actions: {} }
    const context = new RunCallbackContext(this.#run, plan.agent.name, frame.branch)
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
}

function blocked(hook: string, agentName: string, what: string): ToolwrightError {
  const problem = `A ${hook} callback of agent "${agentName}" ${what}`
  const advice = 'A live model speaks by itself, so that nothing can replace its reply: the live session ends'
  return new ToolwrightError('INVALID_REQUEST', `${problem}. ${advice}.`)
}
