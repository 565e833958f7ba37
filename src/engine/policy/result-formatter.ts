import type { JsonObject } from '../../core/base/json.ts'
import type { FunctionCall } from '../../core/content/content.ts'

/** What a background call ended as: its result, or the error that the model can act on. */
export type BackgroundResult =
  | { readonly result: JsonObject; readonly error?: undefined }
  | { readonly error: string; readonly errorCode?: string | undefined; readonly result?: undefined }

/** Writes what the model reads about a call that runs in the background. */
export interface ResultFormatter {
  /** The response that acknowledges the call while it runs. */
  formatRunning(call: FunctionCall): JsonObject
  /** The response with the result, or the error. */
  formatResult(call: FunctionCall, outcome: BackgroundResult): JsonObject
  /** The response to a call that this side cancelled. A call that the model cancelled gets none. */
  formatCancelled(callId: string): JsonObject
}

/** The formatter of background tools without their own. */
export const defaultFormatter: ResultFormatter = {
  formatRunning: ({ name }) => ({ status: 'running', tool: name }),
  formatResult: ({ name }, outcome) =>
    outcome.result
      ? { status: 'completed', tool: name, result: outcome.result }
      : { status: 'error', tool: name, error: outcome.error },
  formatCancelled: (callId) => ({ status: 'cancelled', call_id: callId }),
}
