// The inbox of a session while a run holds it: other processes post answers, results, state edits and cancels.
import { isRecord } from '../../../core/base/json.ts'
import type { Content, Part } from '../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { InboxItem, PostedItem } from '../../../services/session/service.ts'
import type { RunRecorder } from '../../dispatch/host.ts'
import { progressEvent } from '../../dispatch/progress.ts'
import { hasClientResult } from '../approvals/accept.ts'
import { type AnswerContext, type Answers, readAnswers } from '../approvals/answers.ts'
import { questionsOf } from '../approvals/edited-questions.ts'
import { expired } from '../approvals/pending-requests.ts'
import { Cancelled } from '../run/cancelled.ts'
import type { RecordedRun } from '../run/recorded-run.ts'
import { attemptRecord, findEngineCall, type PostedAttempt, type PostedProgress } from './posted-attempts.ts'

/** Writes to the log of the run that holds the session. */
interface InboxRecorder extends Pick<RunRecorder, 'draft' | 'emit'> {
  /** The items other processes have posted. */
  postedItems(): Promise<PostedItem[]>
  /** `drained`: inbox items that this append removes. */
  commit(entries: readonly NewEntry[], drained: readonly string[]): Promise<void>
  /** Commits only if `isStillWanted` at that moment; false = nothing was recorded. */
  commitIf(isStillWanted: () => boolean, entries: readonly NewEntry[], drained: readonly string[]): Promise<boolean>
}

/** Drains the inbox for a run. */
export class RunInbox {
  readonly #run: RecordedRun
  readonly #recorder: InboxRecorder
  /** The latest read, and those before it. */
  #draining: Promise<void> = Promise.resolve()
  /** Answers this run has recorded, by the id of their inbox item. */
  readonly #recorded: Map<string, Content> = new Map()

  constructor(run: RecordedRun, recorder: InboxRecorder) {
    this.#run = run
    this.#recorder = recorder
    const { recording } = run.progress
    if (recording) this.#draining = recording.catch(() => {})
  }

  /** Reads the inbox and records what is for this run, one read after another. */
  drain(): Promise<void> {
    const drain = this.#draining.then(() => this.#drain())
    this.#draining = drain.catch(() => {})
    return drain
  }

  /** Settles when no read is under way. */
  async drained(): Promise<void> {
    await this.#draining
  }

  /** The answers of an inbox item, if this run has recorded them. */
  recorded(itemId: string): Content | undefined {
    return this.#recorded.get(itemId)
  }

  async #drain(): Promise<void> {
    const run = this.#run
    const recorder = this.#recorder
    const { progress, stop } = run
    if (progress.isFinalizing || stop.stopped) return
    const items = await recorder.postedItems()
    const shown: string[] = []
    for (const item of items) {
      if (progress.isFinalizing) return
      if (item.type === 'cancel') cancelRun(run, item)
      else if (item.type === 'state') await editState(recorder, item)
      else if (item.type === 'attempt') await recordAttempt(run, recorder, item, items)
      else if (item.type === 'progress') {
        showProgress(run, recorder, item)
        shown.push(item.id)
      } else if (item.type !== 'message') {
        const message = await recordAnswer(run, recorder, item)
        if (message) this.#recorded.set(item.id, message)
      }
    }
    if (shown.length && !progress.isFinalizing) await recorder.commit([], shown)
  }
}

/**
 * Stops the run if a cancel names its invocation. A cancel without an invocation id ends all open ones: the item
 * stays for the others.
 */
function cancelRun({ invocationId, view, progress, stop }: RecordedRun, item: InboxItem & { type: 'cancel' }): void {
  if (item.invocationId !== undefined && item.invocationId !== invocationId) return
  const isForOthers =
    item.invocationId === undefined && view.open().some(({ fold }) => fold.invocationId !== invocationId)
  if (!isForOthers) progress.drained = [item.id]
  stop.stop(new Cancelled('The run was cancelled.'))
}

async function editState(recorder: InboxRecorder, { id, stateDelta }: InboxItem & { type: 'state' }): Promise<void> {
  if (!isRecord(stateDelta)) return await recorder.commit([], [id])
  await recorder.commit([{ event: recorder.draft('user', undefined, undefined, { stateDelta }) }], [id])
}

/** Lets a worker run the body of a background call, unless that is no longer wanted. */
async function recordAttempt(
  { view, progress }: RecordedRun,
  recorder: InboxRecorder,
  item: PostedAttempt,
  items: readonly PostedItem[],
): Promise<void> {
  const record = attemptRecord(view, item, items)
  const isStillWanted = (): boolean => attemptRecord(view, item, items) !== undefined
  if (record && (await recorder.commitIf(isStillWanted, [{ record }], [item.id]))) return
  if (!progress.isFinalizing) await recorder.commit([], [item.id])
}

/** Shows progress of a body that runs elsewhere to the consumers of this run. */
function showProgress({ view }: RecordedRun, recorder: InboxRecorder, { callId, response }: PostedProgress): void {
  const found = findEngineCall(view, callId)
  if (!found || !isRecord(response)) return
  const { call, fold } = found
  const { path, name, agent: agentName } = call
  const scope = fold.scopes.get(path)
  const place = { agentName, scope: { path, branch: scope?.branch, isolation: scope?.isolation } }
  const event = progressEvent(recorder, place, { id: callId, name, response })
  event.invocationId = fold.invocationId
  void recorder.emit(event)
}

type PostedAnswer = PostedItem & { type: 'answer' | 'result' }

/** The answer as recorded, now or before; undefined when refused, or for another invocation, where it stays in the inbox. */
async function recordAnswer(
  run: RecordedRun,
  recorder: InboxRecorder,
  item: PostedAnswer,
): Promise<Content | undefined> {
  const { progress } = run
  for (;;) {
    const answers = await readPosted(run, item)
    if (!answers) {
      // the first late answer records the expiry: a clock that is set back later reopens nothing
      const denials = expired(run.fold, run.services.ports.now() / 1000).map((record) => ({ record }))
      if (!progress.isFinalizing) await recorder.commit(denials, [item.id])
      return undefined
    }
    // a result must not be recorded while the calls beside its own are being dispatched
    const mustWait = (): boolean => answers.hasResults && progress.dispatching > 0 && !isForLiveModel(run, answers)
    const isForEarlierInvocation = answers.fold !== run.fold
    const isLate = isForEarlierInvocation && answers.hasResults && run.kind === 'live'
    if ((isForEarlierInvocation && !isLate) || progress.isFinalizing || mustWait()) return undefined
    if (answers.isRepeat) {
      await recorder.commit([], [item.id])
      return answers.message
    }
    const stateDelta = isRecord(item.stateDelta) ? item.stateDelta : undefined
    const event = recorder.draft('user', undefined, answers.message, stateDelta ? { stateDelta } : {})
    event.invocationId = answers.fold.invocationId
    // another entry may have answered the request while this answer was validated
    const isStillPending = (): boolean => answers.areAllPending() && !mustWait()
    if (!(await recorder.commitIf(isStillPending, [{ event }], [item.id]))) continue
    if (isLate) await endLate(run, recorder, answers.fold)
    return answers.message
  }
}

/** Is it for calls that a live model made itself? It dispatches nothing beside them: it speaks on. */
function isForLiveModel({ kind, fold }: RecordedRun, { message }: Answers): boolean {
  const isNested = ({ functionResponse }: Part): boolean =>
    fold.calls.get(functionResponse?.id ?? '')?.path.includes('/') === true
  return kind === 'live' && !message.parts.some(isNested)
}

/** Ends an earlier invocation whose last result has arrived in a live session: the live model tells the user about it. */
async function endLate({ view }: RecordedRun, recorder: InboxRecorder, fold: Fold): Promise<void> {
  const root = [...fold.scopes.keys()].find((path) => !path.includes('/'))
  if (root === undefined || view.stepOf(fold).type !== 'ask-model') return
  const event = recorder.draft(root, { path: root }, undefined, { endOfAgent: true })
  event.invocationId = fold.invocationId
  await recorder.commit([{ event }], [])
  view.close(fold)
}

/**
 * The answers of an inbox item. Undefined when they are refused. A client that waits for them gets the reason from
 * `followHolder`.
 */
async function readPosted(run: RecordedRun, item: PostedAnswer): Promise<Answers | undefined> {
  const { view, held, services, sessionId } = run
  try {
    const folds = view.open().map(({ fold }) => fold)
    // a result of long-running work answers no other request
    if (item.type === 'result' && !folds.some(({ calls }) => calls.get(item.callId)?.pending)) {
      throw new ToolwrightError('NOT_FOUND', `Call "${item.callId}" is not waiting for a result.`)
    }
    const context: AnswerContext = {
      folds,
      now: services.ports.now(),
      asOf: item.seq,
      isResult: item.type === 'result',
      hasClientResult: (id) => hasClientResult(held, id),
      questionFor: questionsOf(run, () => run),
    }
    return await readAnswers(contentOf(item), context)
  } catch (error) {
    services.logger.warn(`An answer posted to session "${sessionId}" was refused: ${messageOf(error)}`)
    return undefined
  }
}

function contentOf(item: PostedAnswer): Content {
  if (item.type === 'answer') return item.content
  const { callId: id, response } = item
  return { role: 'user', parts: [{ functionResponse: { id, name: '', response } }] }
}
