// What a live session writes to the log: messages, replies with their calls, responses, state and phases.

import type { JsonObject } from '../../../core/base/json.ts'
import {
  type Content,
  type FunctionCall,
  type FunctionResponse,
  hasMedia,
  type Part,
} from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import { acceptCalls, CallIds } from '../../agent/loop/accept-calls.ts'
import type { AgentTurn } from '../../agent/loop/run-host.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import { longRunningIds } from '../../dispatch/resolve.ts'
import { phaseRecord } from '../../dispatch/run-phases.ts'
import type { ActiveRun } from '../run/active-run.ts'
import { type CheckedReply, checkReply } from './live-callbacks.ts'
import type { LivePlan } from './live-plan.ts'
import { loadMedia, type ResponseMedia } from './response-media.ts'
import type { RunningCalls } from './running-calls.ts'

/** What is known about a reply besides its parts. */
export interface LiveReply {
  /** The text is a transcript of speech. */
  readonly transcribed?: boolean
  /** The user interrupted the reply. */
  readonly interrupted?: boolean
  /** Token counts. */
  readonly usageMetadata?: JsonObject | undefined
  /** Sources. */
  readonly groundingMetadata?: JsonObject | undefined
}

/** A reply of the model. */
export interface SaidReply {
  /** What the model said, before its calls. */
  readonly parts: readonly Part[]
  /** What is known about it. */
  readonly reply: LiveReply
  /** The calls, with the ids of the provider. */
  readonly calls?: readonly FunctionCall[]
}

/** A reply in the log. */
export interface RecordedReply {
  /** The event of the reply. */
  readonly event: Event
  /** The calls as recorded: an id that is missing, taken or invalid is replaced. */
  readonly calls: readonly FunctionCall[]
  /** Ids at the provider of calls that a callback removed. They must not run. */
  readonly removed: ReadonlySet<string>
}

const NO_CALLS: readonly FunctionCall[] = []
const NONE: ReadonlySet<string> = new Set()

/** Writes the log of a live session. */
export class LiveLog {
  readonly #run: ActiveRun
  readonly #plan: LivePlan
  readonly #running: RunningCalls
  /** The name of the model. */
  readonly #model: string

  constructor(run: ActiveRun, plan: LivePlan, running: RunningCalls) {
    this.#run = run
    this.#plan = plan
    this.#running = running
    this.#model = plan.model.name
  }

  /** The conversation so far, as the agent's model sees it. */
  history(): Content[] {
    const { name, options } = this.#plan.agent()
    return this.#run.data.view.history(name, this.#plan.frame, { history: options.history })
  }

  /** The media of the results in a content. Undefined if there is none. */
  mediaIn(content: Content | undefined): Promise<ResponseMedia> | undefined {
    return content && hasMedia(content.parts) ? loadMedia(this.#run.data, content) : undefined
  }

  /** Must the log say that the model has ended its turn? False if it already does. */
  get isTurnOpen(): boolean {
    return this.#run.next().type === 'ask-model'
  }

  /** Records a message of the user and returns its event. `spoken`: the message was spoken. */
  async recordUser(content: Content, by: 'spoken' | 'written'): Promise<Event> {
    const { recorder } = this.#run.data
    const event = recorder.draft('user', undefined, content, {})
    if (by === 'spoken') event.inputTranscription = { text: textIn(content.parts), finished: true }
    await recorder.commit([{ event }])
    return event
  }

  /** Records what the model said, with its calls. Each call is held back until it is answered or dispatched. */
  async recordReply({ parts, reply, calls = NO_CALLS }: SaidReply): Promise<RecordedReply> {
    const { data } = this.#run
    const turn = this.#plan.turn()
    const checked: CheckedReply = turn.plan.hooks.afterModel.length
      ? await checkReply(turn, { said: parts, calls, reply })
      : { said: parts, calls, removed: NONE, actions: {} }
    const ids = checked.calls.length ? new CallIds(data) : undefined
    try {
      const content: Content = ids
        ? acceptCalls(ids, { role: 'model', parts: [...checked.said, ...checked.calls.map(partOf)] })
        : { role: 'model', parts: checked.said }
      const event = data.recorder.draft(turn.plan.agent.name, turn.frame, content, checked.actions)
      describeReply(event, reply)
      event.modelVersion = this.#model
      const longRunning = ids && longRunningIds(turn.plan.table, content.parts)
      if (longRunning) event.longRunningToolIds = longRunning
      const recorded = ids ? content.parts.flatMap(({ functionCall }) => functionCall ?? []) : NO_CALLS
      for (const { id = '' } of recorded) this.#running.hold(id)
      const startedAt = data.view.events.at(-1)?.timestamp
      await data.recorder.commit([{ event }])
      if (turn.frame.operation) await reportReply(turn, this.#model, event, startedAt)
      return { event, calls: recorded, removed: checked.removed }
    } finally {
      ids?.close()
    }
  }

  /** Records responses to calls that no tool runs: refused by a phase, or answered by `onToolCall`. Answered calls keep theirs. */
  async answer(responses: readonly FunctionResponse[]): Promise<void> {
    const { recorder, fold } = this.#run.data
    const open = responses.filter(({ id = '' }) => {
      const call = fold.calls.get(id)
      return call !== undefined && fold.isOpen(call)
    })
    if (open.length === 0) return
    const content = { role: 'tool', parts: open.map((functionResponse) => ({ functionResponse })) } as const
    const { plan, frame } = this.#plan.turn()
    await recorder.commit([{ event: recorder.draft(plan.agent.name, frame, content, {}) }])
    for (const { id = '' } of open) this.#running.delete(id)
  }

  /** Records state that the app or a hook has changed. */
  async recordState(stateDelta: JsonObject): Promise<void> {
    const { recorder } = this.#run.data
    await recorder.commit([{ event: recorder.draft('user', undefined, undefined, { stateDelta }) }])
  }

  /** Records the phase that the conversation has reached. */
  async recordPhase(phase: Parameters<typeof phaseRecord>[1]): Promise<void> {
    const { recorder, invocationId } = this.#run.data
    await recorder.commit([{ record: phaseRecord(invocationId, phase) }])
  }
}

/** Shows a reply to observers. It began with the event before it: what the user said, or the responses to calls. */
async function reportReply(
  { run, plan, frame }: AgentTurn,
  model: string,
  event: Event,
  startedAt = event.timestamp,
): Promise<void> {
  const { operation: parent } = frame
  if (!parent) return
  const response = { content: event.content, usageMetadata: event.usageMetadata }
  const operation = {
    type: 'model',
    run: parent.run,
    parent,
    agent: plan.agent.name,
    model,
    provider: undefined,
    request: undefined,
    stream: true,
    startedAt: startedAt * 1000,
  } as const
  await run.services.observation?.report(operation, {
    outcome: event.interrupted ? 'cancelled' : 'completed',
    response,
  })
}

function partOf(functionCall: FunctionCall): Part {
  return { functionCall }
}

/** Adds what is known about a reply to its event. */
function describeReply(event: EventDraft, reply: LiveReply): void {
  const { transcribed, interrupted, usageMetadata, groundingMetadata } = reply
  event.turnComplete = true
  event.live = true
  const text = transcribed ? textIn(event.content?.parts ?? []) : ''
  if (text) event.outputTranscription = { text, finished: true }
  if (interrupted) event.interrupted = true
  if (usageMetadata) event.usageMetadata = usageMetadata
  if (groundingMetadata) event.groundingMetadata = groundingMetadata
}

/** The text of a reply or a message, without thoughts. */
export function textIn(parts: readonly Part[]): string {
  return parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('')
}
