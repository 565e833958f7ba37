import { type Content, textOf } from '../content/content.ts'
import type { CallbackContext, Invocation } from '../tool/context.ts'
import { truncate } from './truncate.ts'

/** More words than these find nothing better. */
const MAX_QUERY_LENGTH = 10_000

/** What is made of the user's text, or undefined when there is no text. */
export type MemoizedQuery = (context: CallbackContext) => Promise<string | undefined>

/**
 * Asks with the text of the user's message, once for each invocation: the same message gets the same answer before
 * every model call. An answer that failed is not kept.
 */
export function oncePerInvocation(ask: (query: string, context: CallbackContext) => Promise<string | undefined>): MemoizedQuery {
  const asked: WeakMap<Content, { readonly owner: string; readonly answer: Promise<string | undefined> }> =
    new WeakMap()
  return async (context) => {
    const { invocation } = context
    const { userContent } = invocation
    const query = truncate(textOf(userContent).trim(), MAX_QUERY_LENGTH)
    if (!userContent || query === '') return undefined
    const owner = ownerOf(invocation)
    const known = asked.get(userContent)
    if (known?.owner === owner) return await known.answer
    const answer = ask(query, context)
    asked.set(userContent, { owner, answer })
    try {
      return await answer
    } catch (error) {
      if (asked.get(userContent)?.answer === answer) asked.delete(userContent)
      throw error
    }
  }
}

/** Two users may share a content object; what was found for one is never shown to the other. */
function ownerOf({ appName, userId, invocationId }: Invocation): string {
  return JSON.stringify([appName, userId, invocationId])
}
