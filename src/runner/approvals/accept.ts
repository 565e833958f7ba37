// What a run may do to a session as it stands: begin, answer, go on, or not.
import { describeNext, type Next } from '../../agent/loop/next.ts'
import type { SessionView } from '../../agent/loop/session-view.ts'
import type { Content } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Entry, Event } from '../../event/event.ts'
import { Fold } from '../../event/fold.ts'
import { type AnswerContext, readAnswers } from './answers.ts'

export interface Accepted {
  readonly invocationId: string
  readonly message: Content | undefined
  /** Invocations that the message puts an end to. */
  readonly cancel: readonly string[]
  /** Nothing happens: these events followed the first time. */
  readonly replay?: readonly Event[]
}

interface Open {
  readonly fold: Fold
  readonly step: Next
}

export function accept(
  view: SessionView,
  begin: { readonly invocationId: string; readonly message?: Content | undefined },
  whilePaused: 'reject' | 'cancel' | 'continue' | undefined,
): Accepted {
  const { message, invocationId } = begin
  if (!message) return goOn(view.open(), invocationId)
  // what waits for long-running results only is in the way of new text only where the developer says so
  const open = whilePaused === 'cancel' || whilePaused === 'reject' ? view.open() : view.awake()
  return { invocationId, message, cancel: makeRoom(open, whilePaused) }
}

/** `resume`: the invocation that was named, or the latest that waits for nobody. */
function goOn(open: readonly Open[], invocationId: string): Accepted {
  const found = invocationId
    ? open.find(({ fold }) => fold.invocationId === invocationId)
    : (open.findLast(({ step }) => step.type !== 'wait') ?? open.at(-1))
  if (found) return { invocationId: found.fold.invocationId, message: undefined, cancel: [] }
  const which = invocationId ? `Invocation "${invocationId}"` : 'The session'
  throw new ToolwrightError('NOT_FOUND', `${which} has nothing unfinished to go on with.`)
}

/** Answers go to the invocation that asked, whichever that is; the same ones again show what followed the first time. */
export async function acceptAnswers(
  { view, entries }: { readonly view: SessionView; readonly entries: readonly Entry[] },
  message: Content,
  { now, asOf }: Pick<AnswerContext, 'now' | 'asOf'>,
): Promise<Accepted> {
  const open = view.open().map(({ fold }) => fold)
  const folds = [...open, ...endedFolds(open, entries, message)]
  const answers = await readAnswers(message, { folds, now, asOf, wasGiven: (id) => wasAnswered(view, id) })
  const { invocationId } = answers.fold
  if (!answers.isRepeat) return { invocationId, message: answers.message, cancel: [] }
  const replay = followed(view.events, answers.message, invocationId)
  return { invocationId, message: undefined, cancel: [], replay }
}

/** The invocations at their end in which something was asked that is answered here: they are known by their log. */
function endedFolds(open: readonly Fold[], entries: readonly Entry[], message: Content): Fold[] {
  const folds: Fold[] = []
  for (const id of idsOf(message)) {
    if ([...open, ...folds].some((fold) => fold.request(id) || fold.calls.has(id))) continue
    const asked = entries.findLast(({ event }) => event?.content?.parts.some((part) => part.functionCall?.id === id))
    if (!asked?.event || asked.event.author === 'user') break // nothing is accepted with it, so nothing more is looked for
    const fold = new Fold(asked.event.invocationId)
    for (const entry of entries) {
      if ((entry.event ?? entry.record).invocationId === fold.invocationId) fold.add(entry, entry.seq)
    }
    folds.push(fold)
  }
  return folds
}

/** Did somebody outside give the result of this call? */
export function wasAnswered(view: SessionView, callId: string): boolean {
  return view.events.some((event) => answersTo(event, [callId]))
}

function idsOf({ parts }: Content): string[] {
  return parts.map(({ functionResponse }) => functionResponse?.id ?? '')
}

function answersTo({ author, content }: Event, ids: readonly string[]): boolean {
  if (author !== 'user' || !content) return false
  return content.parts.some(
    ({ functionResponse: given }) => given && !given.willContinue && ids.includes(given.id ?? ''),
  )
}

/** What happened in the invocation after these answers. */
export function followed(events: readonly Event[], message: Content, invocationId: string): Event[] {
  const ids = idsOf(message)
  const at = events.findLastIndex((event) => answersTo(event, ids))
  return events.slice(at + 1).filter((event) => event.invocationId === invocationId && event.author !== 'user')
}

/** New text while something is unfinished: refused, put aside, or the end of it. */
function makeRoom(open: readonly Open[], whilePaused: 'reject' | 'cancel' | 'continue' | undefined): string[] {
  const ended: string[] = []
  for (const { fold, step } of open) {
    const choice = whilePaused ?? (onlyLongRunning(step) ? 'continue' : 'reject')
    if (choice === 'cancel') ended.push(fold.invocationId)
    else if (choice === 'reject' || !onlyLongRunning(step)) {
      const how =
        step.type === 'wait'
          ? 'Send approve(), deny() or respond() of the request, which runner.pending() lists,'
          : 'Go on with it with runner.resume(),'
      throw new ToolwrightError(
        'PAUSED',
        `Invocation ${fold.invocationId} ${describeNext(step)}. ${how} or end it with runner.cancel().`,
      )
    }
  }
  return ended
}

/** Does it wait for work only, and for nobody's word? */
function onlyLongRunning(step: Next): boolean {
  return step.type === 'wait' && step.on.every((call) => call.pending)
}
