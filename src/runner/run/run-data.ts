import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { RunHost, RunProgress } from '../../agent/loop/run-host.ts'
import type { SessionView } from '../../agent/loop/session-view.ts'
import type { ArtifactService } from '../../artifact/service.ts'
import { keepShape } from '../../base/keep-shape.ts'
import type { Content } from '../../content/content.ts'
import type { CredentialService } from '../../credential/service.ts'
import { StopSignal } from '../../dispatch/stop-signal.ts'
import type { Entry } from '../../event/event.ts'
import { Fold } from '../../event/fold.ts'
import type { MemoryService } from '../../memory/service.ts'
import type { Session } from '../../session/service.ts'
import type { RunConfig } from '../../tool/run-config.ts'
import type { RunContext } from '../../tool/run-context.ts'
import type { HeldSession } from '../lease/claim-session.ts'
import type { RunServices } from '../run-services.ts'
import { EventQueue } from './event-queue.ts'
import { Recorder } from './recorder.ts'
import { RunState } from './run-state.ts'
import { SessionSnapshot } from './session-snapshot.ts'

/** What a run is created from. */
export interface RunDataOptions {
  readonly services: RunServices
  readonly tree: AgentTree
  /** The session, with its lease claimed. */
  readonly held: HeldSession
  readonly invocationId: string
  /** Makes the event ids of this run different from all others. */
  readonly nonce: string
  readonly runConfig: RunConfig
  readonly runContext: RunContext | undefined
}

/** What changes while a run is under way. */
export interface RunnerProgress extends RunProgress {
  /** The user's message is recorded and the loop has started. */
  hasStarted: boolean
  /** The run drains no more inbox items: they are for the next run of the session. */
  isFinalizing: boolean
  /** Inbox items to remove with the next append of the user's message, or with the append that ends the run. */
  drained: readonly string[] | undefined
}

/** Everything the loop, the dispatcher, the contexts and the inbox read of one run. Fields only; `ActiveRun` acts on it. */
export class RunData implements RunHost {
  readonly appName: string
  readonly userId: string
  readonly sessionId: string
  readonly invocationId: string
  readonly runConfig: RunConfig
  readonly runContext: RunContext | undefined
  readonly maxLlmCalls: number
  readonly services: RunServices
  readonly artifactService: ArtifactService | undefined
  readonly memoryService: MemoryService | undefined
  readonly credentialService: CredentialService | undefined
  readonly tree: AgentTree
  readonly view: SessionView
  /** The session's log as read when the lease was claimed, and what the store has added to it. */
  readonly entries: readonly Entry[]
  readonly fold: Fold
  readonly state: RunState
  readonly stop: StopSignal = new StopSignal()
  readonly events: EventQueue = new EventQueue()
  readonly progress: RunnerProgress
  readonly recorder: Recorder

  constructor({ services, tree, held, invocationId, nonce, runConfig, runContext }: RunDataOptions) {
    const { appName, userId, sessionId } = held.lease.key
    this.appName = appName
    this.userId = userId
    this.sessionId = sessionId
    this.invocationId = invocationId
    this.runConfig = runConfig
    this.runContext = runContext
    this.maxLlmCalls = runConfig.maxLlmCalls ?? 500
    this.services = services
    this.artifactService = services.artifactService
    this.memoryService = services.memoryService
    this.credentialService = services.credentialService
    this.tree = tree
    this.view = held.view
    this.entries = held.log.entries
    this.fold = held.view.foldOf(invocationId)
    this.state = new RunState(held.log.state)
    this.progress = {
      dispatching: 0,
      replies: [],
      tables: undefined,
      entered: undefined,
      hasStarted: false,
      isFinalizing: false,
      drained: undefined,
    }
    this.recorder = new Recorder(this, held, nonce)
  }

  get userContent(): Content | undefined {
    return this.fold.userEvent?.content
  }
  session(): Session {
    return new SessionSnapshot(this)
  }
}

keepShape(
  () =>
    new RunData({
      services: { watchers: [] },
      held: { lease: { key: {} }, claimedAt: 0.5, log: { state: {} }, view: { seq: 0, foldOf: () => new Fold('') } },
      runConfig: {},
      // only what the constructor reads: this run never starts
    } as unknown as RunDataOptions),
)
