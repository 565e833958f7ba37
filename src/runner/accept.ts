// What a run may do to a session as it stands: begin, answer, go on, or not.
import { describeNext, type Next } from '../agent/next.ts'
import type { SessionView } from '../agent/session-view.ts'
import { canonicalJson } from '../base/json.ts'
import type { Content } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Event } from '../event/event.ts'
import type { Fold } from '../event/fold.ts'
import { readAnswers } from './answers.ts'

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
  const open = view.open()
  const { message, invocationId } = begin
  if (!message) return goOn(open, invocationId)
  return { invocationId, message, cancel: makeRoom(open, whilePaused) }
}

/** `resume`: the invocation that was named, or the only one. */
function goOn(open: readonly Open[], invocationId: string): Accepted {
  const found = invocationId ? open.find(({ fold }) => fold.invocationId === invocationId) : open.at(-1)
  if (found) return { invocationId: found.fold.invocationId, message: undefined, cancel: [] }
  const which = invocationId ? `Invocation "${invocationId}"` : 'The session'
  throw new ToolwrightError('NOT_FOUND', `${which} has nothing unfinished to go on with.`)
}

/** Answers go to the invocation that asked, whichever that is; the same ones again show what followed the first time. */
export async function acceptAnswers(view: SessionView, message: Content, now: number): Promise<Accepted> {
  const repeated = replayOf(view, message)
  if (repeated) return repeated
  const folds = view.open().map(({ fold }) => fold)
  const answers = await readAnswers(folds, message, now)
  const { invocationId } = answers.fold
  if (!answers.isRepeat) return { invocationId, message: answers.message, cancel: [] }
  return replayOf(view, answers.message) ?? { invocationId, message: undefined, cancel: [], replay: [] }
}

/** The events that followed these very answers; undefined when they were not given before. */
function replayOf({ events }: SessionView, { parts }: Content): Accepted | undefined {
  const ids = parts.map(({ functionResponse }) => functionResponse?.id ?? '')
  const at = events.findIndex(
    ({ author, content }) =>
      author === 'user' &&
      ids.every((id) => content?.parts.some(({ functionResponse: given }) => given?.id === id && !given.willContinue)),
  )
  const given = events[at]
  if (!given?.content) return undefined
  for (const { functionResponse: answer } of parts) {
    const before = given.content.parts.find(
      ({ functionResponse }) => functionResponse?.id === answer?.id,
    )?.functionResponse
    if (canonicalJson(before?.response) !== canonicalJson(answer?.response)) {
      throw new ToolwrightError('ALREADY_ANSWERED', `"${answer?.id}" was answered before, and not like this.`)
    }
  }
  const { invocationId } = given
  const replay = events.slice(at + 1).filter((event) => event.invocationId === invocationId && event.author !== 'user')
  return { invocationId, message: undefined, cancel: [], replay }
}

/** New text while something is unfinished: refused, put aside, or the end of it. */
function makeRoom(open: readonly Open[], whilePaused: 'reject' | 'cancel' | 'continue' | undefined): string[] {
  const ended: string[] = []
  for (const { fold, step } of open) {
    const choice = whilePaused ?? (onlyLongRunning(step) ? 'continue' : 'reject')
    if (choice === 'cancel') ended.push(fold.invocationId)
    else if (choice === 'reject' || !onlyLongRunning(step)) {
      throw new ToolwrightError(
        'PAUSED',
        `Invocation ${fold.invocationId} ${describeNext(step)}. Answer it, go on with runner.resume(), or end it with runner.cancel().`,
      )
    }
  }
  return ended
}

/** Does it wait for work only, and for nobody's word? */
function onlyLongRunning(step: Next): boolean {
  return step.type === 'wait' && step.on.every((call) => call.pending)
}
