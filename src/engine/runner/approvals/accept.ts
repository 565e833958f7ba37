// Answers of clients to pending requests: finds their invocation, and what follows.

import { type Content, isHandle } from '../../../core/content/content.ts'
import type { Entry, Event } from '../../../core/event/event.ts'
import { Fold } from '../../../core/event/fold.ts'
import type { ToolOwner } from '../../agent/loop/find-entry.ts'
import type { InvocationHost } from '../../context/invocation-host.ts'
import type { WholeLog } from '../session/whole-log.ts'
import { type AnswerContext, type QuestionFor, readAnswers } from './answers.ts'
import { questionsOf } from './edited-questions.ts'

/** Answers that were accepted. */
type AcceptedAnswers =
  /** They are recorded, and the invocation continues. */
  | { readonly type: 'record'; readonly invocationId: string; readonly message: Content }
  /** They repeat recorded answers: the caller gets the events that followed those. */
  | { readonly type: 'replay'; readonly invocationId: string; readonly events: readonly Event[] }

/** Who asks the questions about edited arguments. Undefined when the answers are only checked. */
interface Asks extends Omit<ToolOwner, 'host'> {
  /** The run of an invocation. */
  hostOf(invocationId: string): InvocationHost
}

/** Accepts answers for the invocation that they belong to. Repeated answers replay the events that followed the first ones. */
export async function acceptAnswers(
  log: WholeLog,
  message: Content,
  { asks, ...context }: Pick<AnswerContext, 'now' | 'asOf' | 'isResult'> & { readonly asks?: Asks },
): Promise<AcceptedAnswers> {
  const { view } = log
  const open = view.open().map(({ fold }) => fold)
  const isOfOpen = (id: string): boolean => open.some((fold) => fold.request(id) || fold.calls.has(id))
  const folds = idsOf(message).every(isOfOpen)
    ? open
    : [...open, ...foldEndedInvocations(open, await log.allEntries(), message)]
  const questionFor: QuestionFor | undefined = asks && ((...edit) => questionsOf(asks, asks.hostOf)(...edit))
  const answers = await readAnswers(message, {
    ...context,
    folds,
    questionFor,
    hasClientResult: (id) => hasClientResult(log, id),
  })
  const { invocationId } = answers.fold
  if (!answers.isRepeat) return { type: 'record', invocationId, message: answers.message }
  await log.load(answers.fold.firstSeq)
  return { type: 'replay', invocationId, events: eventsAfterAnswers(view.events, answers.message, invocationId) }
}

/** Folds the ended invocations whose requests or calls the message answers. Their folds exist only in the log. */
function foldEndedInvocations(open: readonly Fold[], entries: readonly Entry[], message: Content): Fold[] {
  const folds: Fold[] = []
  for (const id of idsOf(message)) {
    if ([...open, ...folds].some((fold) => fold.request(id) || fold.calls.has(id))) continue
    const source = entries.findLast(({ event }) => event?.content?.parts.some((part) => part.functionCall?.id === id))
    if (!source?.event || source.event.author === 'user') break // an unknown id rejects the whole message
    const fold = new Fold(source.event.invocationId)
    for (const entry of entries) {
      if ((entry.event ?? entry.record).invocationId === fold.invocationId) fold.add(entry, entry.seq)
    }
    folds.push(fold)
  }
  return folds
}

/** Did a client send the final result of this call? */
export async function hasClientResult(log: WholeLog, callId: string): Promise<boolean> {
  await log.load(1)
  return log.view.events.some((event) => isAnswerTo(event, [callId]))
}

function idsOf({ parts }: Content): string[] {
  return parts.map(({ functionResponse }) => functionResponse?.id ?? '')
}

function isAnswerTo({ author, content }: Event, ids: readonly string[]): boolean {
  if (author !== 'user' || !content) return false
  return content.parts.some(
    ({ functionResponse: answer }) => answer && !isHandle(answer) && ids.includes(answer.id ?? ''),
  )
}

/** The events of the invocation after these answers, without those of the user. */
export function eventsAfterAnswers(events: readonly Event[], message: Content, invocationId: string): Event[] {
  const ids = idsOf(message)
  const at = events.findLastIndex((event) => isAnswerTo(event, ids))
  return events.slice(at + 1).filter((event) => event.invocationId === invocationId && event.author !== 'user')
}
