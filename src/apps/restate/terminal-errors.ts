// Errors that another attempt does not change. Restate repeats a handler that fails with any other one.
import type * as restate from '@restatedev/restate-sdk'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'

/** The SDK of Restate, as it was loaded. */
export type RestateSdk = typeof restate

/** Does the work. An error that the caller must act on ends the call, with our code. */
export async function forCaller<T>(sdk: RestateSdk, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.status >= 500) throw error
    const body = JSON.stringify({ error: messageOf(error), errorCode: error.code })
    throw new sdk.TerminalError(body, { errorCode: error.status })
  }
}
