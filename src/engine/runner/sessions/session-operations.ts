import { loadLater } from '../../../core/base/load-later.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { pageOf } from '../../../services/session/page.ts'
import type { Page, PageOptions, SessionKey } from '../../../services/session/service.ts'
import { MESSAGE_PREFIX } from '../../../services/session/waiting-limits.ts'
import { toStateDelta } from '../../context/state.ts'
import { Cancelled } from '../run/cancelled.ts'
import type { AnswerRequest } from '../run/record-answers.ts'
import type { RunFactory } from '../run/run-factory.ts'
import type { StartedRun } from '../run/run-handle.ts'
import { cancelHeld } from '../run/settle-session.ts'
import type {
  ApprovalPreview,
  CancelOptions,
  DeleteSessionOptions,
  FollowOptions,
  ForkOptions,
  PreviewApprovalOptions,
  PruneOptions,
  PruneResult,
  UpdateStateOptions,
  UserOptions,
} from '../runner-options.ts'
import { claimIfFree } from '../session/leases.ts'
import { wakeWorker } from '../work/wake-worker.ts'
import type { ExportedItem } from './exported-item.ts'

const following = loadLater(() => import('./follow-run.ts'))
const stateUpdates = loadLater(() => import('./update-state.ts'))
const deletion = loadLater(() => import('./delete-session.ts'))
const userDeletion = loadLater(() => import('./delete-user.ts'))
const userExport = loadLater(() => import('./export-user.ts'))
const pruning = loadLater(() => import('./prune-sessions.ts'))
const answering = loadLater(() => import('../run/record-answers.ts'))
const posting = loadLater(() => import('../inbox/post-message.ts'))
const forking = loadLater(() => import('./fork-session.ts'))
const unfinishedCopies = loadLater(() => import('./unfinished-copy.ts'))
const previews = loadLater(() => import('../approvals/preview-approval.ts'))

interface PendingFilter {
  readonly userId?: string | undefined
  readonly sessionId?: string | undefined
}

const NO_END = 'runner.fork() needs `before`: the id of an event or an invocation. The copy ends before it.'

/** What a runner does with a session besides running it. */
export class SessionOperations {
  readonly #appName: string
  readonly #factory: RunFactory

  constructor(appName: string, factory: RunFactory) {
    this.#appName = appName
    this.#factory = factory
  }

  /** The stored events after an event, then those of the run under way. */
  async follow({ userId, sessionId, afterEventId }: FollowOptions): Promise<StartedRun> {
    const { followRun } = await following()
    return await followRun(this.#key({ userId, sessionId }), afterEventId, this.#factory)
  }

  /** Changes the state of a session. A change with an id that the session has seen is not made again. */
  async updateState({ userId, sessionId, stateDelta }: UpdateStateOptions, id?: string): Promise<void> {
    const delta = toStateDelta(stateDelta) // a copy: the caller may change it meanwhile
    const { updateState } = await stateUpdates()
    await updateState(this.#key({ userId, sessionId }), delta, this.#factory, id)
  }

  /** Stores a message for a worker. `id`: the same for each attempt. `wakes`: tells the engine, if there is one. */
  async submit(
    { userId, sessionId, invocationId, message, stateDelta }: AnswerRequest,
    { id, wakes = true }: { readonly id: string | undefined; readonly wakes?: boolean },
  ): Promise<{ readonly sessionId: string }> {
    const { sessionService, ports, limits } = this.#factory.services
    this.#factory.throwIfClosed()
    const { postMessage } = await posting()
    const itemId = `${MESSAGE_PREFIX}${id ?? ports.newId()}`
    const posted = { id: itemId, postedAt: ports.now(), invocationId, content: message, stateDelta }
    await postMessage(sessionService, this.#key({ userId, sessionId }), posted, { maxWaiting: limits?.waiting })
    if (wakes) await wakeWorker(this.#factory.services, this.#key({ userId, sessionId }))
    return { sessionId }
  }

  /** Records answers without a run. `wakes`: tells the engine, if there is one. */
  async answer(request: AnswerRequest, { wakes = true }: { readonly wakes?: boolean } = {}): Promise<void> {
    const { recordAnswers } = await answering()
    await recordAnswers(this.#factory, request)
    const { userId, sessionId } = request
    if (wakes) await wakeWorker(this.#factory.services, this.#key({ userId, sessionId }))
  }

  /** Deletes a session with its open consents and its artifacts. */
  async delete({ userId, sessionId }: DeleteSessionOptions): Promise<void> {
    const { deleteSession } = await deletion()
    await deleteSession(this.#key({ userId, sessionId }), this.#factory)
  }

  /** Deletes all that is stored for a user. */
  async deleteUser({ userId }: UserOptions): Promise<void> {
    const { deleteUser } = await userDeletion()
    await deleteUser({ appName: this.#appName, userId }, this.#factory)
  }

  /** All that is stored for a user. */
  async *exportUser({ userId }: UserOptions): AsyncGenerator<ExportedItem, void> {
    const { exportUser } = await userExport()
    yield* exportUser({ appName: this.#appName, userId }, this.#factory.services)
  }

  /** Deletes old sessions. */
  async prune(options: PruneOptions): Promise<PruneResult> {
    const { pruneSessions } = await pruning()
    return await pruneSessions(options, this.#factory)
  }

  /** Copies a session up to an event. Returns the id of the copy. */
  async fork({ userId, sessionId, before, newSessionId }: ForkOptions): Promise<string> {
    // without types: a copy that ends at the first record would look whole
    if (!before) throw new ToolwrightError('INVALID_REQUEST', NO_END)
    const target = this.#key({ userId, sessionId: newSessionId ?? this.#factory.services.ports.newId() })
    const { forkSession } = await forking()
    await forkSession({ key: this.#key({ userId, sessionId }), before, target }, this.#factory)
    return target.sessionId
  }

  /** A part of the pending requests, also expired ones. */
  async pendingPage(filter: PendingFilter & PageOptions): Promise<Page<PendingRequest>> {
    const { sessionService } = this.#factory.services
    const { userId, sessionId, limit, after, maxBytes } = filter
    const owner = { appName: this.#appName, userId, sessionId }
    const part = { limit, after, maxBytes }
    if (sessionService.pendingPage) return await sessionService.pendingPage({ ...owner, ...part })
    return pageOf(await sessionService.pending(owner), part)
  }

  /** The pending requests of the app that match. There may be many requests: other work goes on while they are read. */
  async findPending(matches: (request: PendingRequest) => boolean): Promise<PendingRequest[]> {
    const found: PendingRequest[] = []
    let after: string | undefined
    do {
      const { items, next } = await this.pendingPage({ limit: 100, maxBytes: 1_000_000, after })
      found.push(...items.filter(matches))
      after = next
      const { ports } = this.#factory.services
      if (next !== undefined) await new Promise<void>((resolve) => void ports.setTimer(resolve, 0))
    } while (after !== undefined)
    return found
  }

  /** Removes copies that a process did not complete before it died. A store that fails must not keep runs from continuing. */
  async removeUnfinishedCopies(): Promise<void> {
    const { services } = this.#factory
    const { removeUnfinishedCopies } = await unfinishedCopies()
    await removeUnfinishedCopies(this.#appName, services).catch((error) =>
      services.logger.warn(`Unfinished copies were not removed: ${messageOf(error)}`, error),
    )
  }

  /** The question about edited arguments of a pending confirmation. */
  async previewApproval({ userId, sessionId, ...edit }: PreviewApprovalOptions): Promise<ApprovalPreview> {
    const { previewApproval } = await previews()
    return await previewApproval(this.#key({ userId, sessionId }), edit, this.#factory)
  }

  /** Cancels the unfinished invocations of a session, or one of them. */
  async cancel({ userId, sessionId, invocationId, runContext }: CancelOptions): Promise<void> {
    const key = this.#key({ userId, sessionId })
    const { sessionService, ports } = this.#factory.services
    for (const active of this.#factory.running.of(key)) {
      if (invocationId !== undefined && active.invocationId !== invocationId) continue
      active.stop(new Cancelled('The run was cancelled.'))
      await active.finished
      const hasEnded = active.failure !== undefined || active.next().type === 'done'
      if (hasEnded && (invocationId !== undefined || !active.data.view.hasOthers(active.data.fold))) return
    }
    const free = await claimIfFree(sessionService, key)
    if (free?.lease) return await cancelHeld(this.#factory, free.lease, { invocationId, runContext })
    if (free) return
    const target = invocationId === undefined ? {} : { invocationId }
    await sessionService.post(key, { id: ports.newId(), postedAt: ports.now(), type: 'cancel', ...target })
  }

  #key(session: { readonly userId: string; readonly sessionId: string }): SessionKey {
    return { appName: this.#appName, ...session }
  }
}
