import type { Ports } from '../../base/ports.ts'
import { phaseRecord, type RunPhases } from '../../dispatch/run-phases.ts'
import { ConversationFlow } from '../../flow/conversation-flow.ts'
import { derivedReader } from '../../flow/state/derived-reader.ts'
import type { LiveRun } from '../../runner/live/live-run.ts'
import type { ChangeResponses } from '../../runner/live/response-plugin.ts'
import type { LinkOptions } from '../link/link-options.ts'
import { LiveLink } from '../link/live-link.ts'
import type { LiveOptions } from '../live-options.ts'
import { CallLimit } from './call-limit.ts'
import { guardedModel } from './guarded-model.ts'
import type { KnownConversation } from './known-conversation.ts'
import { ModelCalls } from './model-calls.ts'
import { ModelSetup } from './model-setup.ts'
import { ModelTeller } from './model-teller.ts'
import { Waits } from './waits.ts'

/** How many calls a session runs, if its options do not say it. */
const MAX_TOOL_CALLS = 5_000
const MAX_TOOL_CALLS_PER_MINUTE = 1_000

/** The parts of a session that exist once its run has started. */
export interface SessionParts<S> {
  /** State and what follows from it. */
  readonly flow: ConversationFlow<S>
  /** The calls of the model. */
  readonly calls: ModelCalls
  /** Counts the calls. */
  readonly limit: CallLimit
  /** The connection. */
  readonly link: LiveLink
  /** Instruction and tools of the model. */
  readonly setup: ModelSetup
  /** Tells the model messages of the conversation. */
  readonly teller: ModelTeller
  /** What waits until the model is idle, or all calls have ended. */
  readonly waits: Waits
}

/** What the parts are made from. */
export interface PartsOptions<S> extends Pick<LinkOptions, 'introduce' | 'on'> {
  /** The session, for hooks. */
  readonly session: S
  /** The options of `connectLive()`. */
  readonly options: LiveOptions<S>
  /** The run. */
  readonly run: LiveRun
  /** What is known of the conversation. */
  readonly conversation: KnownConversation
  /** Clock and timers. */
  readonly ports: Ports
  /** The conversation has moved to another phase. */
  onPhase(change: { readonly from?: string; readonly to: string }): Promise<void>
  /** Reports a mistake in a hook. */
  report(problem: string, error: unknown): void
}

/** Makes the parts of a session. Throws INVALID_CONFIG if its phases, watchers or patterns are wrong. */
export function makeParts<S>(given: PartsOptions<S>): SessionParts<S> {
  const { session, options, run, conversation, ports, introduce, on, onPhase, report } = given
  const { model, onToolCall, reconnect = {}, instruction } = options
  const { maxToolCalls = MAX_TOOL_CALLS, maxToolCallsPerMinute = MAX_TOOL_CALLS_PER_MINUTE } = options
  const { data, invocationId } = run.run
  const flow = new ConversationFlow<S>({
    ...options,
    session,
    initial: data.state,
    ports,
    record: (delta) => run.recordState(delta),
    reached: data.view.phase?.phase,
    recorded: options.phases ? undefined : data.phases,
    recordPhase: (phase) => run.recordPhase(phaseRecord(invocationId, phase)),
    onPhase,
    report,
  })
  const background = new Map(
    Object.entries(options.background ?? {}).map(([name, one]) => [name, one === true ? {} : one]),
  )
  const setup = new ModelSetup({ model, calls: run.calls, flow, background, instruction })
  const limit = new CallLimit({ maxToolCalls, maxToolCallsPerMinute, now: () => ports.monotonicNow() })
  const nonBlocking = model.capabilities?.nonBlocking === true
  const calls = new ModelCalls({ calls: run.calls, nonBlocking, background, onToolCall, limit, flow })
  const waits = new Waits()
  const link = new LiveLink({
    model: guardedModel(model),
    ports,
    reconnect,
    setup: () => setup.read(),
    onHandle: () => conversation.cover(),
    canResume: () => conversation.canResume,
    whenIdle: () => waits.until(() => !conversation.isBusy && !calls.isBlocking),
    introduce,
    on,
  })
  const teller = new ModelTeller({ link, conversation, calls, ports, report })
  return { flow, calls, limit, link, setup, teller, waits }
}

/** Lets `beforeToolResponse` change responses before they are recorded. Undefined without it. */
export function changeResponses(
  { beforeToolResponse }: Pick<LiveOptions<never>, 'beforeToolResponse'>,
  report: (problem: string, error: unknown) => void,
): ChangeResponses | undefined {
  if (!beforeToolResponse) return undefined
  return async (responses, state) => {
    try {
      return (await beforeToolResponse({ responses, state })) ?? []
    } catch (error) {
      report('beforeToolResponse failed, so its responses are withheld', error)
      return []
    }
  }
}

const NO_TOOLS: ReadonlySet<string> = new Set()

/** The computed values of a live session, for the state of its run. They are unknown before the session has started. */
export function liveComputed(
  { computed }: Pick<LiveOptions<never>, 'computed'>,
  flow: () => Pick<ConversationFlow<never>, 'state'> | undefined,
): ReturnType<typeof derivedReader> {
  return derivedReader(computed, () => flow()?.state)
}

/** The phase of a live session, for the dispatcher. No tool is allowed before the session has started. */
export function livePhases(flow: () => { allowedTools(): ReadonlySet<string> | undefined } | undefined): RunPhases {
  return {
    settle: () => undefined, // the flow follows each recorded change
    allowedTools: () => {
      const started = flow()
      return started ? started.allowedTools() : NO_TOOLS
    },
    instruction: () => '', // the setup of the model has it
  }
}
