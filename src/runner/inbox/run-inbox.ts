// What others leave for the holder of a session: answers, results, state, the wish that it stop.
import type { SessionView } from '../../agent/loop/session-view.ts'
import { isRecord } from '../../base/json.ts'
import type { Ports } from '../../base/ports.ts'
import type { Content } from '../../content/content.ts'
import type { EventDraft, Logger } from '../../dispatch/host.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { EventActions, NewEntry } from '../../event/event.ts'
import type { Fold } from '../../event/fold.ts'
import type { InboxItem, PostedItem } from '../../session/service.ts'
import { wasAnswered } from '../approvals/accept.ts'
import { type Answers, readAnswers } from '../approvals/answers.ts'
import { expired } from '../approvals/pending.ts'

/** The run that holds the session. */
export interface Hearer {
  readonly fold: Fold
  readonly view: SessionView
  readonly sessionId: string
  readonly logger: Logger
  readonly ports: Pick<Ports, 'now'>
  readonly stopped: { readonly reason: unknown } | undefined
  /** Replies whose calls are being answered now. */
  readonly dispatching: number
  /** It takes nothing in any more. */
  readonly isResting: boolean
  drain(): Promise<PostedItem[]>
  draft(author: 'user', scope: undefined, content: Content | undefined, actions: EventActions): EventDraft
  commit(entries: readonly NewEntry[], drained: readonly string[]): Promise<void>
  /** Records only when it is so at that moment; false when it is not. */
  commitIf(isSo: () => boolean, entries: readonly NewEntry[], drained: readonly string[]): Promise<boolean>
  cancelledBy(item: InboxItem, isForOthers: boolean): void
}

/** What others leave while the run is under way. */
export class RunInbox {
  readonly #run: Hearer
  /** The latest look, and those before it. */
  #looking: Promise<void> = Promise.resolve()
  /** Answers that are in the log of this run now, as they were recorded, by the id of the item. */
  readonly #taken: Map<string, Content> = new Map()

  /** `begun`: what the run itself was begun with comes first. */
  constructor(run: Hearer, begun: Promise<unknown> | undefined) {
    this.#run = run
    if (begun) this.#looking = begun.then(ignore, ignore)
  }

  /** Takes in what is there, one look after another. */
  look(): Promise<void> {
    const look = this.#looking.then(() => this.#look())
    this.#looking = look.catch(() => {})
    return look
  }

  /** Settles when nobody looks any more. */
  async looked(): Promise<void> {
    await this.#looking
  }

  /** The answers of an item, when they were taken in. */
  taken(itemId: string): Content | undefined {
    return this.#taken.get(itemId)
  }

  async #look(): Promise<void> {
    if (this.#run.isResting || this.#run.stopped) return
    for (const item of await this.#run.drain()) {
      if (this.#run.isResting) return
      if (item.type === 'cancel') hearCancel(this.#run, item)
      else if (item.type === 'state') await hearState(this.#run, item)
      else {
        const message = await hearAnswer(this.#run, item)
        if (message) this.#taken.set(item.id, message)
      }
    }
  }
}

const ignore = (): void => {}

/** One that names no invocation is for all that is open: the others are left to whoever comes next. */
function hearCancel(run: Hearer, item: InboxItem & { type: 'cancel' }): void {
  const { invocationId } = run.fold
  if (item.invocationId !== undefined && item.invocationId !== invocationId) return
  const others = run.view.open().filter(({ fold }) => fold.invocationId !== invocationId)
  run.cancelledBy(item, item.invocationId === undefined && others.length > 0)
}

async function hearState(run: Hearer, { id, stateDelta }: InboxItem & { type: 'state' }): Promise<void> {
  if (!isRecord(stateDelta)) return await run.commit([], [id])
  await run.commit([{ event: run.draft('user', undefined, undefined, { stateDelta }) }], [id])
}

type PostedAnswer = PostedItem & { type: 'answer' | 'result' }

/** As it is recorded, now or before; undefined when it is not. What is another invocation's stays where it is. */
async function hearAnswer(run: Hearer, item: PostedAnswer): Promise<Content | undefined> {
  for (;;) {
    const answers = await judged(run, item)
    if (!answers) {
      // the first answer that comes too late records that: a clock that is set back later opens nothing again
      const denials = expired(run.fold, run.ports.now() / 1000)
      if (!run.isResting)
        await run.commit(
          denials.map((record) => ({ record })),
          [item.id],
        )
      return undefined
    }
    // a result that comes while calls beside its own are being answered would be answered with them: it waits
    const isInTheWay = (): boolean => answers.hasResults && run.dispatching > 0
    if (answers.fold !== run.fold || run.isResting || isInTheWay()) return undefined
    if (answers.isRepeat) {
      await run.commit([], [item.id])
      return answers.message
    }
    const given = item.type === 'answer' ? item.stateDelta : undefined
    const delta = isRecord(given) ? given : undefined
    const event = run.draft('user', undefined, answers.message, delta ? { stateDelta: delta } : {})
    // while they were judged, something may have been recorded that they come too late for
    const isStillSo = (): boolean => answers.isAwaited() && !isInTheWay()
    if (await run.commitIf(isStillSo, [{ event }], [item.id])) return answers.message
  }
}

/** Undefined when they are refused: whoever sent them is told why when it asks what became of them. */
async function judged(run: Hearer, item: PostedAnswer): Promise<Answers | undefined> {
  try {
    const folds = run.view.open().map(({ fold }) => fold)
    // work that reports its result decides nothing
    if (item.type === 'result' && !folds.some(({ calls }) => calls.get(item.callId)?.pending)) {
      throw new ToolwrightError('NOT_FOUND', `Nobody waits for a result of "${item.callId}".`)
    }
    const wasGiven = (id: string): boolean => wasAnswered(run.view, id)
    const isResult = item.type === 'result'
    return await readAnswers(contentOf(item), { folds, now: run.ports.now(), asOf: item.seq, isResult, wasGiven })
  } catch (error) {
    run.logger.warn(`An answer left for session "${run.sessionId}" was not taken: ${messageOf(error)}`)
    return undefined
  }
}

function contentOf(item: PostedAnswer): Content {
  if (item.type === 'answer') return item.content
  const { callId: id, response } = item
  return { role: 'user', parts: [{ functionResponse: { id, name: '', response } }] }
}
