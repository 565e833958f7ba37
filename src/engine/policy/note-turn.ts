import { CallContext } from '../context/call-context.ts'
import type { ToolContext } from '../context/context.ts'
import { noteInCall } from '../context/observed-call.ts'

/** Waits for the turn of a call, and tells the observers that it waits. */
export async function noteTurn<T>(
  context: ToolContext,
  policy: 'concurrency' | 'rateLimit',
  turn: Promise<T>,
): Promise<T> {
  const observed = context instanceof CallContext ? context.observed : undefined
  noteInCall(observed, { type: 'queued', policy })
  const taken = await turn
  noteInCall(observed, { type: 'admitted', policy })
  return taken
}
