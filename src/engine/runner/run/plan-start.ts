import { ToolwrightError } from '../../../core/error/error.ts'
import type { BackgroundRecord, Denial, Interruption } from '../../../core/event/event.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { describeNext, type Next } from '../../agent/loop/next.ts'
import type { OpenInvocation, ReadonlyView } from '../../agent/loop/session-view.ts'
import { expired, lateIn, overdueIn } from '../approvals/pending-requests.ts'
import { requireModel } from '../approvals/require-model.ts'
import type { RunRequest } from './run-request.ts'

/** What a start does next. */
export type StartPlan =
  /** Requests of an invocation have expired: their denials are recorded, then the start is planned again. */
  | { readonly type: 'expire first'; readonly invocationId: string; readonly denials: readonly Denial[] }
  /** Background calls of an invocation gave no result in time: that is recorded, then the start is planned again. */
  | { readonly type: 'interrupt first'; readonly invocationId: string; readonly lost: readonly Interruption[] }
  /** An engine has run no body of these background calls in time: that is recorded, it is asked again, then the start is planned again. */
  | { readonly type: 'tell first'; readonly invocationId: string; readonly told: readonly BackgroundRecord[] }
  /** An invocation whose request expired, or whose background call was interrupted, continues to its end, then the start begins again. */
  | { readonly type: 'finish first'; readonly invocationId: string }
  /** The message has answers. Reading them decides which invocation continues. */
  | { readonly type: 'answer' }
  /** A run starts or continues an invocation, once `cancel` are ended. */
  | { readonly type: 'start'; readonly invocationId: string; readonly cancel: readonly string[] }
  /** Nothing starts. */
  | { readonly type: 'refuse'; readonly error: unknown }

/** What a plan depends on besides the log and the request. */
export interface PlanOptions {
  /** The agents of the runner. */
  readonly tree: AgentTree
  /** What new text does to paused invocations. */
  readonly whilePaused: WhilePaused
  /** Seconds since the epoch. */
  readonly now: number
  /** Can the body of a background call still give its result, although its time is over? Default: no. */
  readonly isAlive?: ((callId: string) => boolean) | undefined
  /** When an engine that is asked about a call now is asked again, in seconds since the epoch. Default: there is no engine. */
  readonly tellAgainAt?: (() => number | undefined) | undefined
  /** The invocation that a posted answer continues. Default: none. */
  readonly answered?: string | undefined
}

const NONE: readonly OpenInvocation[] = []

type WhilePaused = 'reject' | 'cancel' | 'continue' | undefined

/** The parts of a request that decide what starts. */
export interface PlannedRequest extends Pick<RunRequest, 'message' | 'invocationId'> {
  /** Whether the session does not exist yet. Default false. */
  readonly isNew?: boolean
  /** Set if a live session drives the run. */
  readonly live?: object | undefined
  /** Whether to refuse if no invocation is interrupted or answered. Default false. */
  readonly needsWork?: boolean | undefined
}

/** Plans the start of a run: a function of the log, the request and the time. */
export function planStart(view: ReadonlyView, request: PlannedRequest, options: PlanOptions): StartPlan {
  const { message, invocationId, live, isNew = false } = request
  const { whilePaused, now } = options
  const awake = isNew ? NONE : view.awake()
  for (const { fold } of awake) {
    const denials = expired(fold, now)
    if (denials.length > 0) return { type: 'expire first', invocationId: fold.invocationId, denials }
  }
  for (const { fold } of awake) {
    const late = lateIn(fold, now)
    const plan = late.length > 0 ? planLate(fold, late, options) : undefined
    if (plan) return plan
  }
  if (message && !invocationId) return { type: 'answer' }
  if (!message && !live) return planResume(view.open(), request, options.answered)
  const overdue = awake.length && whilePaused !== 'cancel' ? overdueIn(awake) : undefined
  if (overdue !== undefined) return { type: 'finish first', invocationId: overdue }
  // by default, an invocation that waits only for long-running results does not block new text
  const open = !isNew && (whilePaused === 'cancel' || whilePaused === 'reject') ? view.open() : awake
  try {
    const cancel = live ? cancelledByLive(awake, open, whilePaused) : cancelledByText(open, whilePaused)
    if (!live && options.tree.hasMissingModel) requireModel(options.tree, view, invocationId)
    return { type: 'start', invocationId, cancel }
  } catch (error) {
    return { type: 'refuse', error }
  }
}

/** What to do about background calls whose time is over. Undefined if there are none. */
function planLate(
  { invocationId }: Fold,
  calls: readonly CallState[],
  { isAlive, tellAgainAt }: PlanOptions,
): StartPlan | undefined {
  const until = tellAgainAt?.()
  const late = calls.filter(({ id }) => !isAlive?.(id))
  const lost = late.filter(({ background }) => until === undefined || !background?.engine)
  if (lost.length > 0) {
    const records = lost.map(({ id: callId }): Interruption => ({ type: 'interruption', invocationId, callId }))
    return { type: 'interrupt first', invocationId, lost: records }
  }
  if (late.length === 0 || until === undefined) return undefined
  const told = late.map(({ id, path }): BackgroundRecord => {
    return { type: 'background', invocationId, path, calls: [{ id, until, engine: {} }] }
  })
  return { type: 'tell first', invocationId, told }
}

/** Continues the named invocation. Default: the latest interrupted one, else the one that was answered, else the latest open one. */
function planResume(
  open: readonly OpenInvocation[],
  { invocationId, needsWork = false }: PlannedRequest,
  answered: string | undefined,
): StartPlan {
  const withId = (id: string | undefined) => open.find(({ fold }) => fold.invocationId === id)
  const atWork = open.findLast(({ step }) => step.type !== 'wait') ?? withId(answered)
  const found = invocationId ? withId(invocationId) : (atWork ?? (needsWork ? undefined : open.at(-1)))
  if (found) return { type: 'start', invocationId: found.fold.invocationId, cancel: [] }
  const subject = invocationId ? `Invocation "${invocationId}"` : 'The session'
  const message = `${subject} has no unfinished work to resume. Send a message with runner.run() instead.`
  return { type: 'refuse', error: new ToolwrightError('NOT_FOUND', message) }
}

/** A live session ends what an interrupted run left: its user has come back to speak. */
function cancelledByLive(
  awake: readonly OpenInvocation[],
  open: readonly OpenInvocation[],
  whilePaused: WhilePaused,
): string[] {
  const interrupted = awake.filter(({ step }) => step.type !== 'wait').map(({ fold }) => fold.invocationId)
  const waiting = open.filter(({ step }) => step.type === 'wait')
  return [...interrupted, ...cancelledByText(waiting, whilePaused)]
}

/** The unfinished invocations that new text cancels. Throws `PAUSED` if one of them must be finished first. */
function cancelledByText(open: readonly OpenInvocation[], whilePaused: WhilePaused): string[] {
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
