import { isDerivedKey, isTempKey } from '../../../core/base/key-scope.ts'
import { StopSignal } from '../../../core/base/stop-signal.ts'
import type { Content } from '../../../core/content/content.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { RunHost } from '../../agent/loop/run-host.ts'
import type { ReadonlyView } from '../../agent/loop/session-view.ts'
import type { RunConfig } from '../../context/run-config.ts'
import type { RunContext } from '../../context/run-context.ts'
import { recordedPhase } from '../../dispatch/run-phases.ts'
import type { RunOperation } from '../../observe/operation.ts'
import type { RunServices } from '../run-services.ts'
import type { HeldSession } from '../session/held-session.ts'
import { EventQueue } from './event-queue.ts'
import type { LiveDriver } from './live-driver.ts'
import type { RecordedRun, RecordedState, RunListener, RunnerProgress } from './recorded-run.ts'
import { Recorder } from './recorder.ts'
import { SessionSnapshot } from './session-snapshot.ts'
import { StateWithDerived } from './state-with-derived.ts'

/** What a run is created from. */
export interface RunDataOptions {
  /** What the runner provides to every run. */
  readonly services: RunServices
  /** The agents of the runner. */
  readonly tree: AgentTree
  /** The session, with its lease claimed. */
  readonly held: HeldSession
  /** The invocation that starts or continues. */
  readonly invocationId: string
  /** Makes the event ids of this run different from all others. */
  readonly nonce: string
  /** Streaming, limits and metadata, as the caller set them. */
  readonly runConfig: RunConfig
  /** The caller's values for tools and callbacks. They are not recorded. */
  readonly runContext: RunContext | undefined
  /** The live session that drives the run. Default: the agent loop drives it. */
  readonly live?: LiveDriver | undefined
  /** The span that the caller names. Default: none. */
  readonly traceparent?: string | undefined
}

/** Everything the loop, the dispatcher, the contexts and the inbox read of one run. Fields only; `ActiveRun` acts on it. */
export class RunData implements RunHost, RecordedRun {
  /** The app of the session. */
  readonly appName: string
  /** The user of the session. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The invocation that this run executes. */
  readonly invocationId: string
  /** Streaming, limits and metadata, as the caller set them. */
  readonly runConfig: RunConfig
  /** The caller's values for tools and callbacks. They are not recorded. */
  readonly runContext: RunContext | undefined
  /** The span that the caller names, a W3C `traceparent`. */
  readonly traceparent: string | undefined
  /** The run as observers see it, once it has started. */
  operation: RunOperation | undefined
  /** Model calls this run may make. Default 500. */
  readonly maxLlmCalls: number
  readonly services: RunServices
  /** Who makes single calls. Undefined in a conversation. */
  readonly callerId: string | undefined
  /** Takes slots of limits that all processes share. */
  readonly slots: RunServices['slots']
  /** Stores files. */
  readonly artifactService: RunServices['artifactService']
  /** The memory that tools search. */
  readonly memoryService: RunServices['memoryService']
  /** Stores credentials. */
  readonly credentialService: RunServices['credentialService']
  /** Hashes of definitions that the app trusts. */
  readonly sessionService: RunServices['sessionService']
  /** Clock, HTTP and exchangers for credentials. */
  readonly auth: RunServices['auth']
  readonly tree: AgentTree
  /** The session that the run holds. */
  readonly held: HeldSession
  readonly view: ReadonlyView
  readonly fold: Fold
  readonly state: RecordedState
  readonly stop: StopSignal = new StopSignal()
  readonly events: EventQueue = new EventQueue()
  readonly progress: RunnerProgress
  /** What the user of a live session sends, for tools. */
  readonly liveInput: LiveDriver['input'] | undefined
  readonly kind: RecordedRun['kind']
  readonly listener: RunListener | undefined
  /** Writes the run's entries to the log. */
  readonly recorder: Recorder
  /** The phase of the conversation. Undefined if it has no phases. */
  readonly phases: LiveDriver['phases']

  constructor(options: RunDataOptions) {
    const { services, tree, held, invocationId, nonce, runConfig, runContext, live, traceparent } = options
    const { appName, userId, sessionId } = held.key
    this.held = held
    this.appName = appName
    this.userId = userId
    this.sessionId = sessionId
    this.invocationId = invocationId
    this.runConfig = runConfig
    this.runContext = runContext
    this.traceparent = traceparent
    this.maxLlmCalls = runConfig.maxLlmCalls ?? 500
    this.services = live ? live.servicesFrom(services) : services
    this.callerId = services.callerId
    this.slots = services.slots
    this.artifactService = services.artifactService
    this.memoryService = services.memoryService
    this.credentialService = services.credentialService
    this.sessionService = services.sessionService
    this.auth = services.auth
    this.tree = tree
    this.view = held.view
    this.fold = held.view.foldOf(invocationId)
    this.state = new RunState(held.state)
    this.progress = {
      dispatching: 0,
      replies: [],
      tables: undefined,
      entered: undefined,
      hasStarted: false,
      recording: undefined,
      isFinalizing: false,
      drained: undefined,
    }
    this.liveInput = live?.input
    this.kind = live ? 'live' : 'text'
    this.listener = live?.listener
    this.recorder = new Recorder(this, held, nonce)
    const { phase } = held.view
    // a runner that does not know the phases of a session keeps to the one that its log has
    this.phases = (live ? live.phases : services.phases?.start(this)) ?? (phase && recordedPhase(phase))
    const derived = live ? live.derived : this.phases?.derived
    if (derived) this.state = new StateWithDerived(this.state, derived) // the phases have the state without them
  }

  /** The message that started the invocation. */
  get userContent(): Content | undefined {
    return this.fold.userEvent?.content
  }
  /** The trace context that the log has of the invocation. */
  get recordedTrace(): string | undefined {
    const { userEvent } = this.fold
    return userEvent?.imported ? undefined : userEvent?.trace // an import may name any trace
  }
  session(): SessionSnapshot {
    return new SessionSnapshot(this)
  }
}

type StoredState = HeldSession['state']

/**
 * Stored state, and the `temp:` values that live as long as the run. A stored `derived:` key is none: only computed values have such
 * keys, and a gate may trust them.
 */
export class RunState implements RecordedState {
  readonly #stored: StoredState
  #temp: Map<string, unknown> | undefined
  constructor(stored: StoredState) {
    this.#stored = stored
  }
  get(key: string): unknown {
    if (isTempKey(key)) return this.#temp?.get(key)
    return isDerivedKey(key) ? undefined : this.#stored.get(key)
  }
  keys(): string[] {
    return [...[...this.#stored.keys()].filter((key) => !isDerivedKey(key)), ...(this.#temp?.keys() ?? [])]
  }
  setTemp(key: string, value: unknown): void {
    this.#temp ??= new Map()
    if (value === null || value === undefined) this.#temp.delete(key)
    else this.#temp.set(key, value)
  }
}
