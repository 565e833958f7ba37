import type { InvocationView } from '../../../core/event/views/views.ts'

/** The last answer of an invocation: that of no agent tool. Undefined if there is none. */
export function replyOf({ replies, scopes }: InvocationView): string | undefined {
  const inner = new Set(scopes.flatMap(({ path, parent }) => (parent === undefined ? [] : path)))
  return replies.findLast(({ text, path }) => text !== '' && !inner.has(path))?.text
}
