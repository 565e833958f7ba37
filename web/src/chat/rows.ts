import type { JsonObject } from '../../../src/base/json.ts'
import type { CodeExecutionResult, ExecutableCode, FunctionResponse, Part } from '../../../src/content/content.ts'
import type { FailedAttempt, Request } from '../../../src/event/event.ts'
import type { AnswerMeaning } from '../../../src/event/read-answer.ts'

/** One row of the conversation. `key` stays the same for as long as the row exists. */
export type ChatRow =
  | UserRow
  | TextRow
  | CallRow
  | RequestRow
  | (RowBase & { readonly type: 'media'; readonly author: string; readonly part: Part })
  | (RowBase & { readonly type: 'code'; readonly author: string; readonly code: ExecutableCode })
  | (RowBase & { readonly type: 'output'; readonly author: string; readonly output: CodeExecutionResult })
  | (RowBase & { readonly type: 'artifact'; readonly filename: string; readonly version: number })
  | (RowBase & { readonly type: 'note'; readonly text: string })
  | (RowBase & { readonly type: 'error'; readonly code: string; readonly message: string })

interface RowBase {
  /** Names the row among all rows of the session. */
  readonly key: string
  /** Seconds since the epoch. */
  readonly timestamp: number
}

/** A message of the user. */
export interface UserRow extends RowBase {
  /** Discriminates rows. */
  readonly type: 'user'
  /** The invocation that it started; empty while the server has not confirmed the message. */
  readonly invocationId: string
  /** Text and files. */
  readonly parts: readonly Part[]
}

/** Text of an agent. */
export interface TextRow extends RowBase {
  /** Discriminates rows. */
  readonly type: 'text'
  /** The agent. */
  readonly author: string
  /** Markdown. */
  readonly text: string
  /** Is it the model's thinking? */
  readonly isThought: boolean
  /** Does more text follow? */
  readonly isStreaming: boolean
  /** Token counts of the model call. */
  readonly usage: JsonObject | undefined
}

/** A tool call, with everything that happened to it. */
export interface CallRow extends RowBase {
  /** Discriminates rows. */
  readonly type: 'call'
  /** The id of the call. */
  readonly id: string
  /** The tool. */
  readonly name: string
  /** The arguments that the model sent. */
  readonly args: JsonObject
  /** The arguments that the body got, if an approver or a callback changed them. */
  readonly changedArgs?: JsonObject
  /** The agent that called. */
  readonly author: string
  /** The invocation. */
  readonly invocationId: string
  /** Does its result come later? */
  readonly isLongRunning: boolean
  /** The response. */
  readonly response?: FunctionResponse
  /** When the call started, if the log tells: calls of a batch can start late. Seconds since the epoch. */
  readonly startedAt?: number
  /** When the call ended. Seconds since the epoch. */
  readonly endedAt?: number
  /** The requests of the call, in order. */
  readonly requests: readonly AnsweredRequest[]
  /** How often its body was started. */
  readonly starts: number
  /** 1, or higher for a call that repeats a failed one with the same arguments in the same round of its agent. */
  readonly attempt: number
  /** The attempts of a policy such as `retry()` that failed. */
  readonly failedAttempts?: readonly FailedAttempt[]
  /** Did the invocation end without a response? */
  readonly isAbandoned: boolean
}

/** A request that belongs to no call that is shown, such as the consent of a toolset. */
export interface RequestRow extends RowBase {
  /** Discriminates rows. */
  readonly type: 'request'
  /** The request. */
  readonly request: AnsweredRequest
}

/** A request, and its answer. */
export interface AnsweredRequest {
  /** The request as recorded. */
  readonly record: Request
  /** The answer. */
  readonly answer?: RequestAnswer
}

/** The answer to a request, and when it was given, in seconds since the epoch. Undefined if the request expired. */
export type RequestAnswer = AnswerMeaning & { readonly at?: number }

/** How a call is doing. */
export type CallStatus = 'running' | 'waiting' | 'done' | 'failed' | 'denied' | 'stopped'

/** How a call is doing. */
export function statusOf(row: CallRow): CallStatus {
  const last = row.requests.at(-1)?.answer?.type
  if (row.response && !row.response.willContinue) {
    if (last === 'denied' || last === 'declined' || last === 'expired') return 'denied'
    const { error, errorCode } = row.response.response
    if (error === undefined) return 'done'
    return errorCode === 'CANCELLED' ? 'stopped' : 'failed'
  }
  if (row.isAbandoned) return 'stopped'
  return row.isLongRunning || row.requests.some(({ answer }) => !answer) ? 'waiting' : 'running'
}

/** The arguments that an approver or a callback put in place of the model's. Tools without effects leave no intent that has them. */
export function changedArgsOf({
  changedArgs,
  requests,
}: Pick<CallRow, 'changedArgs' | 'requests'>): JsonObject | undefined {
  if (changedArgs) return changedArgs
  const edited = requests.findLast(({ record, answer }) => record.editable && answer?.type === 'approved')?.answer
  return edited?.type === 'approved' ? edited.args : undefined
}

/** How long the call waited for answers, in seconds. Requests that were open at the same time count once. */
export function waitedSeconds({ requests }: Pick<CallRow, 'requests'>): number {
  let waited = 0
  let until = 0
  for (const { record, answer } of requests) {
    if (answer?.at === undefined) continue
    waited += Math.max(0, answer.at - Math.max(record.createdAt, until))
    until = Math.max(until, answer.at)
  }
  return waited
}
