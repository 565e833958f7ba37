// Ends an invocation, or one scope of it, early. Every open call gets a final response, then the reason is recorded.
import type { JsonObject } from '../../core/base/json.ts'
import { clip } from '../../core/base/limits.ts'
import type { Part } from '../../core/content/content.ts'
import { responsePart } from '../../core/event/code-call.ts'
import type { EventActions, NewEntry } from '../../core/event/event.ts'
import type { Fold } from '../../core/event/fold.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import { isWithin, type ScopePath } from '../../core/event/scope.ts'
import type { Tool } from '../tool/tool.ts'
import { cancelledWork, type StartedWork } from './cancel-work.ts'
import type { DispatchHost, UnrecordedResult } from './host.ts'

type Closing = Pick<DispatchHost, 'fold' | 'recorder'>

/** Why and how an invocation, or the scope of an agent tool, ends early. */
interface ClosingOptions {
  /** The agent that ends. */
  readonly author: string
  /** The scope of the agent. */
  readonly scope: ScopePath
  /** The message of the final event. */
  readonly reason: string
  /** Why it ends. */
  readonly errorCode: 'CANCELLED' | 'AGENT_ERROR' | 'TIMEOUT'
  /** Only this scope ends, with the calls in it. Default: the whole invocation. */
  readonly isScope?: boolean
  /** Results that are not in the log yet. */
  readonly unrecorded: readonly (UnrecordedResult | undefined)[]
  /** Long-running calls that have returned their handle. */
  readonly started: readonly StartedWork[]
}

/** The open calls whose long-running work has started. */
export function startedWork(
  fold: Fold,
  unrecorded: readonly (UnrecordedResult | undefined)[],
  toolOf: (call: CallState) => Tool | undefined,
): StartedWork[] {
  const handles = new Map(unrecorded.flatMap((one) => (one?.pending ? [[one.call.id, one.response]] : [])))
  return fold.openCalls().flatMap((call) => {
    const handle = call.pending ? call.response?.response : handles.get(call.id)
    return handle ? [{ call, handle, tool: toolOf(call) }] : []
  })
}

/** The entries that end the invocation or scope: a response event per scope with open calls, then the final event. */
export function closingEntries(run: Closing, options: ClosingOptions): NewEntry[] {
  const { author, scope, reason, errorCode, isScope, unrecorded, started } = options
  const entries: NewEntry[] = []
  const results = new Map(unrecorded.flatMap((one) => (one ? [[one.call.id, one]] : [])))
  const works = new Map(started.map((work) => [work.call, work]))
  const open = run.fold.openCalls().filter((call) => !isScope || isWithin(call.path, scope.path))
  for (const [path, calls] of byScope(open)) {
    const actions: EventActions = {}
    const parts: Part[] = calls.map((call) => {
      // the log holds the writes of a pending call, with its handle
      const result = call.pending ? undefined : results.get(call.id)
      if (result?.actions?.stateDelta) actions.stateDelta = { ...actions.stateDelta, ...result.actions.stateDelta }
      if (result?.actions?.artifactDelta) {
        actions.artifactDelta = { ...actions.artifactDelta, ...result.actions.artifactDelta }
      }
      const work = works.get(call)
      if (work) return responsePart(call, cancelledWork(work, ENDED[errorCode].beforeResult))
      return responsePart(call, result?.response ?? responseTo(call, reason, errorCode), result?.modelOutput)
    })
    const { branch, isolation } = run.fold.scopes.get(path) ?? {}
    const caller = calls[0]?.agent ?? author
    entries.push({ event: run.recorder.draft(caller, { path, branch, isolation }, { role: 'tool', parts }, actions) })
  }
  const last = run.recorder.draft(author, scope, undefined, {})
  last.errorCode = errorCode
  last.errorMessage = clip(reason)
  return [...entries, { event: last }]
}

function byScope(calls: readonly CallState[]): Map<string, CallState[]> {
  const scopes = new Map<string, CallState[]>()
  for (const call of calls) {
    const beside = scopes.get(call.path)
    if (beside) beside.push(call)
    else scopes.set(call.path, [call])
  }
  return scopes
}

function responseTo(call: CallState, reason: string, errorCode: ClosingOptions['errorCode']): JsonObject {
  if (errorCode === 'AGENT_ERROR' && !call.intent) return { error: reason, errorCode: 'NOT_FOUND' }
  if (!call.intent) return { error: ENDED[errorCode].beforeEnd, errorCode: 'CANCELLED' }
  return { status: 'unknown_outcome', error: ENDED[errorCode].whileRunning, errorCode: 'UNKNOWN_OUTCOME' }
}

const CANCELLED = {
  beforeResult: 'The run ended before the result of this call arrived.',
  beforeEnd: 'The run was cancelled before this call was finished.',
  whileRunning: 'The run was cancelled while this call was running; it may have taken effect.',
}

/** The messages in responses to open calls, by why the agent ended. */
const ENDED = {
  CANCELLED,
  AGENT_ERROR: CANCELLED,
  TIMEOUT: {
    beforeResult: 'The agent timed out before the result of this call arrived.',
    beforeEnd: 'The agent timed out before this call was finished.',
    whileRunning: 'The agent timed out while this call was running; it may have taken effect.',
  },
}
