import { removeFrom } from '../../../core/base/remove-from.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Lease } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { checkFirstMessage } from '../approvals/require-model.ts'
import { type ClaimedSession, postAndFollow } from '../inbox/post-answers.ts'
import type { RunServices } from '../run-services.ts'
import { HeldSession } from '../session/held-session.ts'
import { claimIfFree, claimSession, LeaseRenewer } from '../session/leases.ts'
import { WorkerActivity } from '../work/worker-activity.ts'
import { ActiveRun } from './active-run.ts'
import { Cancelled } from './cancelled.ts'
import { RunData } from './run-data.ts'
import type { RunRequest } from './run-request.ts'

/** What runs are created from. */
export interface RunFactoryOptions {
  /** The app of the runner. */
  readonly appName: string
  /** What the runner provides to every run. */
  readonly services: RunServices
  /** The agents of the runner. */
  readonly tree: AgentTree
}

/** Claims and opens sessions, and creates the runs of a runner. */
export class RunFactory {
  /** What the runner provides to every run. */
  readonly services: RunServices
  /** The agents of the runner. */
  readonly tree: AgentTree
  /** The runs under way. */
  readonly running: ActiveRuns = new ActiveRuns()
  /** What the runner has done without callers. */
  readonly activity: WorkerActivity = new WorkerActivity()
  /** The app of the runner. */
  readonly appName: string
  readonly #id: string
  readonly #renewer: LeaseRenewer
  #runs = 0
  #isClosed = false

  constructor({ appName, services, tree }: RunFactoryOptions) {
    this.appName = appName
    this.services = services
    this.tree = tree
    this.#id = services.ports.newId()
    const { ports, sessionService } = services
    this.#renewer = new LeaseRenewer({ appName, ports, sessionService, runs: () => this.running.all() })
  }

  /** Claims the session of a request, or follows the run that holds it. */
  async claim(request: RunRequest): ReturnType<typeof postAndFollow> {
    const { tree } = this
    const { sessionService, ports } = this.services
    const { userId, sessionId, isNew, message, stateDelta, isResult } = request
    const key = { appName: this.appName, userId, sessionId }
    if (tree.hasMissingModel) await checkFirstMessage(key, request, { tree, sessionService })
    if (isNew) {
      await sessionService.createSession(key)
      return claimed(await sessionService.claim(key))
    }
    if (!message || request.invocationId) {
      const mayCreate = (message !== undefined || request.live !== undefined) && !request.tick?.mustExist
      const options = request.unattended
      return claimed(await claimSession(sessionService, key, { create: mayCreate, options }))
    }
    const throwIfCancelled = (): void => {
      this.throwIfClosed()
      if (request.signal?.aborted || request.caller?.isCancelled())
        throw new Cancelled('The run was cancelled before it started.')
    }
    throwIfCancelled()
    const free = await claimIfFree(sessionService, key)
    if (free) return claimed(free.lease)
    const findHolder = (): ActiveRun | undefined => this.running.of(key)[0]
    const posted = { message, stateDelta, isResult }
    return await postAndFollow(key, posted, { sessionService, ports, findHolder, throwIfCancelled })
  }

  /** Reads the log of a claimed session. A run of this runner that still believes it holds the session is stopped. */
  open(lease: Lease, claimedAt: number): Promise<HeldSession> {
    const { services, tree } = this
    if (services.observation && lease.crashes) services.observation.measure({ type: 'takeover' })
    const lost = this.running.of(lease.key).filter(({ data }) => !data.progress.isFinalizing)
    for (const run of lost) run.stopWithLostLease()
    const { lastHeldMs } = lease
    const recovery =
      lastHeldMs === undefined
        ? undefined
        : this.activity.recoveryOf(lease, lastHeldMs, () => services.ports.monotonicNow() - claimedAt)
    return HeldSession.open(lease, { services, tree, claimedAt, isFresh: lost.length > 0, recovery })
  }

  /** Creates a run of an invocation. */
  create(
    held: HeldSession,
    invocationId: string,
    request: Partial<Pick<RunRequest, 'runConfig' | 'runContext' | 'live' | 'traceparent'>> = {},
  ): ActiveRun {
    const { services, tree } = this
    const { runConfig = {}, runContext, live, traceparent } = request
    const nonce = `${this.#id}-${(++this.#runs).toString(36)}`
    const data = new RunData({ services, tree, held, invocationId, nonce, runConfig, runContext, live, traceparent })
    return new ActiveRun(data, this.#onFinished, live)
  }

  /** Notes that a run is under way, and renews its lease from now on. */
  add(run: ActiveRun, held: HeldSession): void {
    this.running.add(run)
    this.#renewer.start(held.lease)
  }

  readonly #onFinished = (run: ActiveRun): void => this.running.delete(run)

  /** Whether the runner is closed. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Throws once the runner is closed. */
  throwIfClosed(): void {
    if (this.#isClosed) throw new ToolwrightError('INVALID_REQUEST', 'The runner is closed. Create a new Runner.')
  }

  /** Starts no more runs. Those under way go on. */
  refuseRuns(): void {
    this.#isClosed = true
  }

  /** Stops the renewal of leases. */
  close(): void {
    this.#renewer.close()
  }
}

/** The active runs of a runner. */
export class ActiveRuns {
  // a list: a Map that is filled and emptied for ever keeps finished runs alive until the next full collection
  readonly #runs: ActiveRun[] = []

  /** All runs. */
  all(): ActiveRun[] {
    return [...this.#runs]
  }
  /** The runs of one session. A run whose lease was lost may still be there beside the run that holds it now. */
  of({ userId, sessionId }: { readonly userId: string; readonly sessionId: string }): ActiveRun[] {
    return this.#runs.filter((run) => run.sessionId === sessionId && run.userId === userId)
  }
  /** Adds a run that starts. */
  add(run: ActiveRun): void {
    this.#runs.push(run)
  }
  /** Removes a run that is over. */
  delete(run: ActiveRun): void {
    removeFrom(this.#runs, run)
  }
}

function claimed(lease: Lease | undefined): ClaimedSession {
  return { type: 'claimed', lease, drained: undefined, asOf: Number.POSITIVE_INFINITY }
}
