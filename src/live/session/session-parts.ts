import type { Ports } from '../../base/ports.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import { phaseRecord, type RunPhases } from '../../dispatch/run-phases.ts'
import { ConversationFlow } from '../../flow/conversation-flow.ts'
import { derivedReader } from '../../flow/state/derived-reader.ts'
import type { LiveRun } from '../../runner/live/live-run.ts'
import type { LiveEvent } from '../../tool/live-event.ts'
import type { LiveClientMessage } from '../../tool/live-model.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { quietMs } from '../conversation/quiet.ts'
import { canResume } from '../conversation/since-handle.ts'
import { isBusy } from '../conversation/turn.ts'
import type { LinkOptions } from '../link/link-options.ts'
import { LiveLink } from '../link/live-link.ts'
import type { LiveOptions } from '../live-options.ts'
import { CallLimit } from './call-limit.ts'
import { Deliveries } from './deliveries.ts'
import { guardedModel } from './guarded-model.ts'
import { type HeldMessage, HeldResults } from './held-results.ts'
import { lostText } from './lost-text.ts'
import { ModelSetup } from './model-setup.ts'
import { Waits } from './waits.ts'
import { WireCalls } from './wire-calls.ts'

/** How long a tool response waits until the model knows the tools of a new phase or agent. */
const SETTLE_MS = 1_000

/** How long calls that run may take when the session has used its calls. */
const LAST_CALLS_MS = 2_000
/** How many calls a session runs, if its options do not say it. */
const MAX_TOOL_CALLS = 5_000
const MAX_TOOL_CALLS_PER_MINUTE = 1_000

/** The parts of a session that exist once its run has started. */
export interface SessionParts<S> {
  /** State and what follows from it. */
  readonly flow: ConversationFlow<S>
  /** The calls of the model. */
  readonly wire: WireCalls
  /** Counts the calls. */
  readonly limit: CallLimit
  /** The connection. */
  readonly link: LiveLink
  /** Instruction and tools of the model. */
  readonly setup: ModelSetup
  /** Results on their way to the model. */
  readonly deliveries: Deliveries
  /** Results that wait until the model is idle. */
  readonly held: HeldResults
  /** A turn has ended, or a response was sent: what waits for an idle model may happen now. */
  checkIdle(): void
  /** Lets calls that run end, and the model get its last responses. */
  settleCalls(): Promise<void>
}

/** What the parts are made from. */
export interface PartsOptions<S> {
  /** The session, for hooks. */
  readonly session: S
  /** The options of `connectLive()`. */
  readonly options: LiveOptions<S>
  /** The run. */
  readonly run: LiveRun
  /** What is known of the conversation now. */
  conversation(): Conversation
  /** Clock and timers. */
  readonly ports: Ports
  /** What the connection reports to the session. */
  readonly link: Omit<LinkOptions, 'model' | 'ports' | 'reconnect' | 'setup' | 'canResume' | 'whenIdle' | 'onFailed'>
  /** The conversation has moved to another phase. */
  onPhase(change: { readonly from?: string; readonly to: string }): Promise<void>
  /** Sends a message of the conversation. */
  tell(message: LiveClientMessage): void
  /** No connection can be made again. */
  onConnectionLost(message: string): void
  /** Settles when everything so far is recorded and shown. */
  ordered(): Promise<void>
  /** Shows an event to the consumer. */
  emit(event: LiveEvent): void
  /** Reports a mistake in a hook. */
  report(problem: string, error: unknown): void
}

/** Makes the parts of a session. Throws INVALID_CONFIG if its phases, watchers or patterns are wrong. */
export function makeParts<S>(given: PartsOptions<S>): SessionParts<S> {
  const { session, options, run, conversation, ports, tell, emit, report } = given
  const { model, background = {}, onToolCall, reconnect = {}, instruction } = options
  const flow = new ConversationFlow<S>({
    ...options,
    session,
    initial: run.run.data.state,
    ports,
    record: (delta) => run.recordState(delta),
    reached: run.run.data.view.phase?.phase,
    recorded: options.phases ? undefined : run.run.data.phases,
    recordPhase: (phase) => run.recordPhase(phaseRecord(run.run.invocationId, phase)),
    onPhase: given.onPhase,
    report,
  })
  const inBackground = new Map(Object.entries(background).map(([name, one]) => [name, one === true ? {} : one]))
  const setup = new ModelSetup({ model, calls: run.calls, flow, background: inBackground, instruction })
  const waits = new Waits()
  const isIdle = (): boolean => !isBusy(conversation().turns) && !wire.isBlocking
  const link = new LiveLink({
    ...given.link,
    model: guardedModel(model),
    ports,
    reconnect,
    setup: () => setup.read(),
    canResume: () => canResume(conversation().since),
    whenIdle: () => waits.until(isIdle),
    onFailed: (error) => given.onConnectionLost(lostText(error, options.runner && run.run.sessionId)),
  })
  const { maxToolCalls = MAX_TOOL_CALLS, maxToolCallsPerMinute = MAX_TOOL_CALLS_PER_MINUTE } = options
  const limit = new CallLimit({ maxToolCalls, maxToolCallsPerMinute, now: () => ports.monotonicNow() })
  const wire = new WireCalls({
    limit,
    calls: run.calls,
    nonBlocking: model.capabilities?.nonBlocking === true,
    background: inBackground,
    onToolCall,
    state: flow.state,
    saved: () => flow.state.saved(),
    refusal: (name) => flow.refusal(name),
    settled: () => settled(flow, setup, ports),
    place: () => conversation().place,
    send: tell,
    sendWhenIdle: (message) => held.add(message),
    emit,
    report,
  })
  const held = new HeldResults({
    ports,
    isIdle,
    isBlocked: () => wire.isBlocking,
    quietMs: () => quietMs(conversation().quiet, ports.monotonicNow()),
    tell,
  })
  const checkIdle = (): void => {
    held.send()
    waits.check()
  }
  const settleCalls = async (): Promise<void> => {
    await given.ordered() // the calls are recorded
    await withTimeout(
      waits.until(() => wire.openCount === 0),
      LAST_CALLS_MS,
      ports,
      () => {},
    )
    await deliveries.settled()
    await given.ordered() // the responses are shown
  }
  const tellWhenIdle = (message: HeldMessage): void => held.add(message)
  const isOwnCall = (callId: string): boolean => run.run.data.fold.calls.has(callId)
  const deliveries = new Deliveries({ wire, ports, isOwnCall, tellWhenIdle, onDelivered: checkIdle, report })
  return { flow, wire, limit, link, setup, deliveries, held, checkIdle, settleCalls }
}

/** Settles when the phase fits the state and the model knows it, soon at the latest; undefined if that is so now. */
function settled(
  flow: { settled(): Promise<void> | undefined },
  setup: { settled(): Promise<void> | undefined },
  ports: Ports,
): Promise<void> | undefined {
  const settling = [flow.settled(), setup.settled()].filter((one) => one !== undefined)
  if (settling.length === 0) return undefined
  return withTimeout(Promise.all(settling), SETTLE_MS, ports, () => {}).then(() => {})
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
