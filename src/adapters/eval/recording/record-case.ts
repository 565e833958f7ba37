// Makes a case of the log of a session.
import type { JsonObject } from '../../../core/base/json.ts'
import { scopeOfKey } from '../../../core/base/key-scope.ts'
import { textOf } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import type { CallView, InvocationView, RequestView } from '../../../core/event/views/views.ts'
import type { Models } from '../../../engine/runner/models.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import type { EvalAnswer, EvalCase, EvalTurn } from '../cases/eval-set.ts'
import { caseRunner, type EvalTarget, modelsOf } from '../run/eval-target.ts'
import { Replay } from '../run/replay.ts'
import { compareRecordings } from './compare-recordings.ts'
import { describeDifference } from './difference.ts'
import { RecordedLog } from './recorded-log.ts'
import { RECORDING_VERSION, type Recording } from './recording.ts'
import { replyOf } from './reply-of.ts'

/** The session that becomes a case. */
export interface RecordedSession {
  /** The app, the user and the id. */
  readonly key: SessionKey
  /** The log, records included. */
  readonly entries: readonly NewEntry[]
  /** The state at the end. */
  readonly state: JsonObject
}

/** Options of `recordCase()`. */
export interface RecordOptions {
  /** The agent or runner that the session was recorded with. */
  readonly target: EvalTarget
  /** The id of the case. */
  readonly id: string
  /** Makes models for the names that agents have. Default: those of the runner. */
  readonly models?: Models | undefined
  /** Ends the replay. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Makes a case of a session: its messages, the answers to its requests, its calls and its log. The log is replayed once, which also
 * records what models were shown. Throws INVALID_REQUEST if the session cannot be replayed.
 */
export async function recordCase(session: RecordedSession, options: RecordOptions): Promise<EvalCase> {
  const { key, entries } = session
  const log = new RecordedLog(entries)
  const problem = problemOf(log, entries)
  if (problem !== undefined) throw unreplayable(key, problem)
  const plain = entries.map(({ event, record }): NewEntry => (event ? { event } : { record }))
  const state = initialState(plain, session.state)
  const empty = { version: RECORDING_VERSION, ...key, state, entries: plain, models: {}, toolsets: {}, steps: [] }
  return { ...caseOfSession(session, options.id), recording: await replayOnce(empty, options) }
}

/** The case of a session without a recording: its messages, its calls and the answers to its requests. */
export function caseOfSession({ key, entries, state }: RecordedSession, id: string): EvalCase {
  const { reader } = new RecordedLog(entries)
  return {
    id,
    turns: reader.invocations().flatMap(turnOf),
    session: { userId: key.userId, state: initialState(entries, state) },
    answers: reader.calls().flatMap(answersOf),
  }
}

/** The recording with what only a replay tells. */
async function replayOnce(recording: Recording, options: RecordOptions): Promise<Recording> {
  const { target, models, signal = new AbortController().signal } = options
  const replay = new Replay(recording, { model: modelsOf(target, models) })
  const { parts, ports } = replay
  const runner = caseRunner(target, { appName: recording.appName, parts, ports })
  await replay.drive(runner, signal)
  signal.throwIfAborted()
  const entries = await replay.entries(runner)
  const { steps, declarations } = replay.steps
  const { difference } = compareRecordings({ ...recording, steps }, { entries, steps: replay.steps })
  if (difference) throw unreplayable(recording, `its replay differs. ${describeDifference(difference)}`)
  return {
    ...recording,
    models: replay.models,
    toolsets: replay.toolsets,
    declarations: Object.fromEntries(declarations),
    steps,
  }
}

/** Why a log cannot be replayed. */
function problemOf(log: RecordedLog, entries: readonly NewEntry[]): string | undefined {
  if (log.ofUser.length === 0) return 'it has no message of a user'
  if (entries.some(({ event }) => event?.live)) return 'a live model spoke in it'
  if (entries.some(({ event }) => event?.imported)) return 'it was imported'
  if (entries.some(({ record }) => record?.type === 'background')) return 'it has background calls'
  if (log.calls().some(({ kind }) => kind === 'code')) return 'code that a model wrote ran in it'
  if (log.requestRecords().some(({ kind }) => kind === 'credential')) return 'it asked for a credential'
  if (entries.some(({ event }) => event?.errorCode === 'CANCELLED')) return 'a run of it was cancelled'
  if (log.calls().some(({ interruptions, status }) => interruptions > 0 || status === 'unknown'))
    return 'a process died in it, or a call has an unknown outcome'
  return undefined
}

function unreplayable({ sessionId }: { readonly sessionId: string }, problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `Session "${sessionId}" cannot be recorded as a case: ${problem}.`)
}

/** The state that no event has written: the session started with it. */
function initialState(entries: readonly NewEntry[], state: JsonObject): JsonObject {
  const written = new Set(entries.flatMap(({ event }) => Object.keys(event?.actions.stateDelta ?? {})))
  return Object.fromEntries(Object.entries(state).filter(([key]) => scopeOfKey(key) !== 'temp' && !written.has(key)))
}

function turnOf(invocation: InvocationView): EvalTurn[] {
  const { message, calls } = invocation
  if (!message?.content) return []
  const { parts } = message.content
  const isText = parts.every(({ text }) => text !== undefined)
  const expected = calls.filter(({ parent, kind }) => parent === undefined && kind === 'tool')
  const reply = replyOf(invocation)
  return [
    {
      user: isText ? textOf(message.content) : parts,
      calls: expected.map(({ name, args }) => ({ name, args })),
      ...(reply !== undefined && { reply }),
    },
  ]
}

function answersOf(call: CallView): EvalAnswer[] {
  const answers = call.requests.flatMap((request) => answerOf(call, request))
  const isSent = call.handle !== undefined && call.response !== undefined
  if (!isSent) return answers
  return [...answers, { tool: call.name, kind: 'longRunning', once: true, respond: call.response?.response }]
}

function answerOf({ name: tool }: CallView, { kind, key, answer, args }: RequestView): EvalAnswer[] {
  if (!answer || answer.type === 'expired') return []
  const of = { tool, kind, ...(key !== undefined && { key }), ...(kind === 'confirmation' && { args }), once: true }
  if (answer.type === 'approved') {
    const { payload, args: edited } = answer
    const hasMore = payload !== undefined || edited !== undefined
    const more = { ...(payload !== undefined && { payload }), ...(edited && { args: edited }) }
    return [{ ...of, approve: hasMore ? more : true }]
  }
  if (answer.type === 'answered') return [{ ...of, respond: answer.value }]
  const reason = 'reason' in answer ? answer.reason : undefined
  return [{ ...of, deny: reason ?? true }]
}
