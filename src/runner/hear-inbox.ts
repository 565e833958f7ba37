// What others leave for the holder of a session: answers, results, state, the wish that it stop.
import type { SessionView } from '../agent/session-view.ts'
import type { Content } from '../content/content.ts'
import type { Draft, Logger } from '../dispatch/host.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { EventActions, NewEntry } from '../event/event.ts'
import type { Fold } from '../event/fold.ts'
import type { InboxItem } from '../session/service.ts'
import { wasAnswered } from './accept.ts'
import { type Answers, readAnswers } from './answers.ts'

/** The run that holds the session. */
export interface Hearer {
  readonly fold: Fold
  readonly view: SessionView
  readonly sessionId: string
  readonly logger: Logger
  /** It takes nothing in any more. */
  readonly isResting: boolean
  now(): number
  drain(): Promise<InboxItem[]>
  draft(author: 'user', scope: undefined, content: Content | undefined, actions: EventActions): Draft
  commit(entries: readonly NewEntry[], drained: readonly string[]): Promise<void>
  cancelledBy(item: InboxItem, isForOthers: boolean): void
}

/** Takes in what is there; tells of each message of answers that is in the log of this run now. */
export async function hearInbox(run: Hearer, taken: (itemId: string, message: Content) => void): Promise<void> {
  for (const item of await run.drain()) {
    if (run.isResting) break
    if (item.type === 'cancel') hearCancel(run, item)
    else if (item.type === 'state') await hearState(run, item)
    else {
      const message = await hearAnswer(run, item)
      if (message) taken(item.id, message)
    }
  }
}

/** One that names no invocation is for all that is open: the others are left to whoever comes next. */
function hearCancel(run: Hearer, item: InboxItem & { type: 'cancel' }): void {
  const { invocationId } = run.fold
  if (item.invocationId !== undefined && item.invocationId !== invocationId) return
  const others = run.view.open().filter(({ fold }) => fold.invocationId !== invocationId)
  run.cancelledBy(item, item.invocationId === undefined && others.length > 0)
}

async function hearState(run: Hearer, { id, stateDelta }: InboxItem & { type: 'state' }): Promise<void> {
  await run.commit([{ event: run.draft('user', undefined, undefined, { stateDelta }) }], [id])
}

/** As it is recorded, now or before; undefined when it is not. What is another invocation's stays where it is. */
async function hearAnswer(run: Hearer, item: InboxItem & { type: 'answer' | 'result' }): Promise<Content | undefined> {
  let answers: Answers
  try {
    const folds = run.view.open().map(({ fold }) => fold)
    answers = await readAnswers(folds, contentOf(item), run.now(), (id) => wasAnswered(run.view, id))
  } catch (error) {
    if (!(error instanceof ToolwrightError)) throw error
    // whoever sent it is told the same when it asks what became of it
    run.logger.warn(`An answer left for session "${run.sessionId}" was not taken: ${messageOf(error)}`)
    if (!run.isResting) await run.commit([], [item.id])
    return undefined
  }
  if (answers.fold !== run.fold || run.isResting) return undefined
  const heard = answers.isRepeat ? [] : [{ event: run.draft('user', undefined, answers.message, {}) }]
  await run.commit(heard, [item.id])
  return answers.message
}

function contentOf(item: InboxItem & { type: 'answer' | 'result' }): Content {
  if (item.type === 'answer') return item.content
  const { callId: id, response } = item
  return { role: 'user', parts: [{ functionResponse: { id, name: '', response } }] }
}
