import { type Content, textOf } from '../../core/content/content.ts'
import type { CallbackContext, Invocation } from '../../engine/context/context.ts'
import { truncate } from './shorten-text.ts'

/** The most characters of a query. A longer query does not find better results. */
const MAX_QUERY_LENGTH = 10_000

/** Computes a text for the user's message. Undefined when the message has no text. */
type MemoizedQuery = (context: CallbackContext) => Promise<string | undefined>

/**
 * Calls `run` with the text of the user's message, once for each invocation: every model request of an invocation gets the
 * same result. A failed call is repeated.
 */
export function oncePerInvocation(
  run: (query: string, context: CallbackContext) => Promise<string | undefined>,
): MemoizedQuery {
  const results: WeakMap<Content, { readonly owner: string; readonly result: Promise<string | undefined> }> =
    new WeakMap()
  return async (context) => {
    const { invocation } = context
    const { userContent } = invocation
    const query = truncate(textOf(userContent).trim(), MAX_QUERY_LENGTH)
    if (!userContent || query === '') return undefined
    const owner = ownerOf(invocation)
    const known = results.get(userContent)
    if (known?.owner === owner) return await known.result
    const result = run(query, context)
    results.set(userContent, { owner, result })
    try {
      return await result
    } catch (error) {
      if (results.get(userContent)?.result === result) results.delete(userContent)
      throw error
    }
  }
}

/**
 * The owner of a result: app, user and invocation. Invocations can share a content object, but a result is never used
 * for another user or invocation.
 */
function ownerOf({ appName, userId, invocationId }: Invocation): string {
  return JSON.stringify([appName, userId, invocationId])
}
