// Results for a model that takes them only as messages. A message would stop what the model says, so that they wait for its end.
import type { Content } from '../../../core/content/content.ts'
import type { LiveClientMessage } from '../../../engine/model/live-model.ts'
import type { Wanted } from './fact.ts'
import { isBusy, type Quiet, quietMs, type Turns } from './turn.ts'

/** Results that the model must not hear now. */
export interface HeldResults {
  /** The results. */
  readonly contents: readonly Content[]
  /** What the model does about them. */
  readonly wants: Wanted
}

/**
 * A model that has been quiet for so long counts as idle, in milliseconds: a model may choose not to reply, and some never say that
 * their turn is complete.
 */
const QUIET_MS = 3_000

/** Milliseconds until held results may be sent. Undefined: none is held. `isBlocked`: the model waits for a call, and cannot speak. */
export function heldForMs(
  { held, turns, quiet }: { readonly held: readonly HeldResults[]; readonly turns: Turns; readonly quiet: Quiet },
  { isBlocked, now }: { readonly isBlocked: boolean; readonly now: number },
): number | undefined {
  if (held.length === 0) return undefined
  if (isBlocked) return QUIET_MS
  return isBusy(turns) ? Math.max(0, QUIET_MS - quietMs(quiet, now)) : 0
}

/** All held results as one message. */
export function heldMessage(held: readonly HeldResults[]): LiveClientMessage {
  const contents = held.flatMap((one) => one.contents)
  return { type: 'content', contents, turnComplete: held.some(({ wants }) => wants === 'reply') }
}
