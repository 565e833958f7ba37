import type { JsonObject } from '../../core/base/json.ts'
import type { FunctionCall, FunctionResponse } from '../../core/content/content.ts'
import type { Event } from '../../core/event/event.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'

/** What happens in a live session, in order. `event` is the recorded event, if the step is recorded. */
export type LiveEvent = {
  /** The recorded event, if the step is recorded. */
  readonly event?: Event
} & (
  | { readonly type: 'audio'; readonly data: Uint8Array; readonly mimeType: string }
  | { readonly type: 'text'; readonly text: string; readonly thought?: boolean }
  /** A delta of what the user says. With `finished`, `text` is the whole transcript of the turn. */
  | { readonly type: 'inputTranscript'; readonly text: string; readonly finished?: boolean }
  /** A delta of what the model says. With `finished`, `text` is the whole transcript of the turn. */
  | { readonly type: 'outputTranscript'; readonly text: string; readonly finished?: boolean }
  | { readonly type: 'toolCall'; readonly calls: readonly FunctionCall[] }
  | { readonly type: 'toolProgress'; readonly id: string; readonly name: string; readonly value: unknown }
  | { readonly type: 'toolResponse'; readonly responses: readonly FunctionResponse[] }
  | { readonly type: 'toolCancelled'; readonly ids: readonly string[] }
  /** A person, or the app, must answer: a confirmation, input, a credential, or the result of a long-running call. */
  | { readonly type: 'request'; readonly request: PendingRequest }
  | { readonly type: 'phase'; readonly from?: string; readonly to: string }
  | { readonly type: 'transfer'; readonly to: string }
  /** A watcher of this key, or the pattern with this name, runs its code. */
  | { readonly type: 'hook'; readonly hook: 'watcher' | 'pattern'; readonly name: string }
  | { readonly type: 'activity'; readonly state: 'start' | 'end' }
  | { readonly type: 'interrupted' }
  | { readonly type: 'turnComplete'; readonly usageMetadata?: JsonObject }
  | { readonly type: 'reconnecting'; readonly attempt: number }
  | { readonly type: 'resumed' }
  /** The consumer was too slow, and this many audio events were dropped. */
  | { readonly type: 'lagged'; readonly dropped: number }
  | { readonly type: 'error'; readonly errorCode: string; readonly message: string }
  | { readonly type: 'closed'; readonly reason: string }
)
