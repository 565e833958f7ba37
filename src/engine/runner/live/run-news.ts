import type { Event } from '../../../core/event/event.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'

/** What a live session hears from its run. */
export type RunNews =
  /** An event is stored. Events come in the order of the log. */
  | { readonly type: 'recorded'; readonly event: Event }
  /** A `temp:` value has changed. Null: it is deleted. */
  | { readonly type: 'temp'; readonly key: string; readonly value: unknown }
  /** A running call reports progress. */
  | { readonly type: 'progress'; readonly callId: string; readonly name: string; readonly value: unknown }
  /** A human must answer. Comes once for each request. `signal` aborts when no answer is needed any more. */
  | { readonly type: 'request'; readonly request: PendingRequest; readonly signal: AbortSignal }
  /** The run is stopped from outside: by `runner.cancel()`, `runner.close()` or a lost lease. */
  | { readonly type: 'stopped'; readonly reason: unknown }
