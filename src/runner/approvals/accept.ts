// Decides what a message, an answer or a resume does to the unfinished invocations of a session.
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { ToolOwner } from '../../agent/loop/find-entry.ts'
import { describeNext, type Next } from '../../agent/loop/next.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import type { Content } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Entry, Event } from '../../event/event.ts'
import { Fold } from '../../event/fold.ts'
import { isHandle } from '../../event/handle.ts'
import type { SessionKey, SessionService } from '../../session/service.ts'
import type { InvocationHost } from '../../tool/invocation-host.ts'
import type { RunRequest } from '../run/run-request.ts'
import { type AnswerContext, type QuestionFor, readAnswers } from './answers.ts'
import { questionsOf } from './edited-questions.ts'
import { requireModel } from './require-model.ts'

/** A request that was accepted: the invocation to run, and what to do before it runs. */
export interface Accepted {
  /** The invocation that starts or continues. */
  readonly invocationId: string
  /** The message to record; undefined when there is nothing new to record. */
  readonly message: Content | undefined
  /** The invocations to cancel first. */
  readonly cancel: readonly string[]
  /** Set if the answers repeat recorded ones: the events that followed the recorded answers. */
  readonly replay?: readonly Event[]
}

interface OpenInvocation {
  readonly fold: Fold
  readonly step: Next
}

/** What a message is accepted for. */
interface AcceptOptions {
  /** The agents of the runner. */
  readonly tree: AgentTree
  /** What new text does to paused invocations. */
  readonly whilePaused: 'reject' | 'cancel' | 'continue' | undefined
}

/**
 * Accepts new text, or a resume when there is no message. Throws `PAUSED` if an unfinished invocation forbids new text, and
 * `INVALID_CONFIG` if the agent that answers it has no model.
 */
export function acceptMessage(
  view: SessionView,
  request: {
    readonly invocationId: string
    readonly message?: Content | undefined
    readonly live?: object | undefined
  },
  { tree, whilePaused }: AcceptOptions,
): Accepted {
  const { message, invocationId } = request
  if (request.live) return acceptLive(view, invocationId, whilePaused)
  if (!message) return acceptResume(view.open(), invocationId)
  // by default, an invocation that waits only for long-running results does not block new text
  const open = whilePaused === 'cancel' || whilePaused === 'reject' ? view.open() : view.awake()
  const cancel = findInvocationsToCancel(open, whilePaused)
  requireModel(tree, view, invocationId)
  return { invocationId, message, cancel }
}

/**
 * Throws what `acceptMessage` would throw, before the session of the message is created: a refused message leaves no session. In a
 * session that exists, the log decides who answers.
 */
export async function checkFirstMessage(
  key: SessionKey,
  { isNew, message, invocationId, live }: Pick<RunRequest, 'isNew' | 'message' | 'invocationId' | 'live'>,
  { tree, sessionService }: { readonly tree: AgentTree; readonly sessionService: SessionService },
): Promise<void> {
  if (live || !message || !invocationId) return
  if (!isNew && (await sessionService.getSession({ ...key, config: { numRecentEvents: 1 } }))) return
  requireModel(tree, new SessionView(tree), invocationId)
}

/** Accepts a live session. It ends what an interrupted run left: its user has come back to speak. */
function acceptLive(
  view: SessionView,
  invocationId: string,
  whilePaused: 'reject' | 'cancel' | 'continue' | undefined,
): Accepted {
  const interrupted = view.awake().filter(({ step }) => step.type !== 'wait')
  const waiting = (whilePaused === 'cancel' || whilePaused === 'reject' ? view.open() : view.awake()).filter(
    ({ step }) => step.type === 'wait',
  )
  const cancel = [...interrupted.map(({ fold }) => fold.invocationId), ...findInvocationsToCancel(waiting, whilePaused)]
  return { invocationId, message: undefined, cancel }
}

/** Accepts a resume of the named invocation. Default: the latest interrupted one, else the latest open one. */
function acceptResume(open: readonly OpenInvocation[], invocationId: string): Accepted {
  const found = invocationId
    ? open.find(({ fold }) => fold.invocationId === invocationId)
    : (open.findLast(({ step }) => step.type !== 'wait') ?? open.at(-1))
  if (found) return { invocationId: found.fold.invocationId, message: undefined, cancel: [] }
  const subject = invocationId ? `Invocation "${invocationId}"` : 'The session'
  throw new ToolwrightError(
    'NOT_FOUND',
    `${subject} has no unfinished work to resume. Send a message with runner.run() instead.`,
  )
}

/** Who asks the questions about edited arguments. Undefined when the answers are only checked. */
interface Asks extends Omit<ToolOwner, 'host'> {
  /** The run of an invocation. */
  hostOf(invocationId: string): InvocationHost
}

/** Accepts answers for the invocation that they belong to. Repeated answers replay the events that followed the first ones. */
export async function acceptAnswers(
  { view, entries }: { readonly view: SessionView; readonly entries: readonly Entry[] },
  message: Content,
  { asks, ...context }: Pick<AnswerContext, 'now' | 'asOf'> & { readonly asks?: Asks },
): Promise<Accepted> {
  const open = view.open().map(({ fold }) => fold)
  const folds = [...open, ...foldEndedInvocations(open, entries, message)]
  const questionFor: QuestionFor | undefined = asks && ((...edit) => questionsOf(asks, asks.hostOf)(...edit))
  const answers = await readAnswers(message, {
    ...context,
    folds,
    questionFor,
    hasClientResult: (id) => hasClientResult(view, id),
  })
  const { invocationId } = answers.fold
  if (!answers.isRepeat) return { invocationId, message: answers.message, cancel: [] }
  const replay = eventsAfterAnswers(view.events, answers.message, invocationId)
  return { invocationId, message: undefined, cancel: [], replay }
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
export function hasClientResult(view: SessionView, callId: string): boolean {
  return view.events.some((event) => isAnswerTo(event, [callId]))
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

/** The unfinished invocations that new text cancels. Throws `PAUSED` if one of them must be finished first. */
function findInvocationsToCancel(
  open: readonly OpenInvocation[],
  whilePaused: 'reject' | 'cancel' | 'continue' | undefined,
): string[] {
  const cancelled: string[] = []
  for (const { fold, step } of open) {
    const choice = whilePaused ?? (waitsOnlyForResults(step) ? 'continue' : 'reject')
    if (choice === 'cancel') cancelled.push(fold.invocationId)
    else if (choice === 'reject' || !waitsOnlyForResults(step)) {
      const instead =
        step.type === 'wait'
          ? 'Answer its pending requests (see runner.pending()) with approve(), deny() or respond(),'
          : 'Continue it with runner.resume(),'
      throw new ToolwrightError(
        'PAUSED',
        `Invocation "${fold.invocationId}" ${describeNext(step)}. ${instead} or end it with runner.cancel().`,
      )
    }
  }
  return cancelled
}

/** Does the invocation wait for results of long-running calls, and for no answer? */
function waitsOnlyForResults(step: Next): boolean {
  return step.type === 'wait' && step.on.every((call) => call.pending)
}
