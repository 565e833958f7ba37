import { CallContext } from '../context/call-context.ts'
import type { ToolContext } from '../context/context.ts'

/** Waits for the turn of a call, and tells the observers that it waits. */
export async function noteTurn<T>(
  context: ToolContext,
  policy: 'concurrency' | 'rateLimit',
  turn: Promise<T>,
): Promise<T> {
  const call = context instanceof CallContext ? context : undefined
  call?.note({ type: 'queued', policy })
  const taken = await turn
  call?.note({ type: 'admitted', policy })
  return taken
}
