import type { JsonObject } from '../../../src/core/base/json.ts'
import type { CodeExecutionResult, ExecutableCode, Part } from '../../../src/core/content/content.ts'
import type { CallView } from '../../../src/core/event/views/views.ts'

/** One row of the conversation. `key` stays the same for as long as the row exists. */
export type ChatRow =
  | UserRow
  | TextRow
  | CallRow
  | (RowBase & { readonly type: 'media'; readonly author: string; readonly part: Part })
  | (RowBase & { readonly type: 'code'; readonly author: string; readonly code: ExecutableCode })
  | (RowBase & { readonly type: 'output'; readonly author: string; readonly output: CodeExecutionResult })
  | (RowBase & { readonly type: 'artifact'; readonly filename: string; readonly version: number })
  | (RowBase & { readonly type: 'note'; readonly text: string })
  | ErrorRow

interface RowBase {
  /** Names the row among all rows of the session. */
  readonly key: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** Was it imported? Then nothing in it happened in this app. */
  readonly imported?: true
}

/** Why an agent ended early. */
export interface ErrorRow extends RowBase {
  /** Discriminates rows. */
  readonly type: 'error'
  /** The code. */
  readonly code: string
  /** The message. */
  readonly message: string
  /** The event, if a model call failed. */
  readonly replyId: string | undefined
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
  /** The event. */
  readonly eventId: string
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
  /** The event, if a model wrote the text and it is complete. */
  readonly replyId?: string | undefined
}

/** A tool call, or a toolset that needs a credential. */
export interface CallRow extends RowBase {
  /** Discriminates rows. */
  readonly type: 'call'
  /** The call as the log says. */
  readonly call: CallView
  /** The files of its result. */
  readonly media: readonly Part[]
  /** What the agent inside the call, or its code, did. */
  readonly inner: readonly ChatRow[]
}

/** The calls of rows, and those inside them. */
export function callsIn(rows: readonly ChatRow[]): readonly CallView[] {
  return rows.flatMap((row) => (row.type === 'call' ? [row.call, ...callsIn(row.inner)] : []))
}
