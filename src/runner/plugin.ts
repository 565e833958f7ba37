import type { Callbacks } from '../agent/hooks.ts'
import type { Content } from '../content/content.ts'
import type { Event } from '../event/event.ts'
import type { CallbackContext } from '../tool/context.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: a callback may return nothing
type Maybe<T> = undefined | void | T | Promise<undefined | void | T>

/** Watches and changes everything a runner does; its callbacks come before the agents' own. */
export interface Plugin extends Callbacks {
  readonly name: string
  /** Before the user's message is recorded; what it writes to state is recorded with it. */
  beforeRun?(run: { message: Content | undefined; context: CallbackContext }): void | Promise<void>
  /** Before an event is stored, and before a partial one is yielded: what it gives takes its place. */
  onEvent?(seen: { event: Event; context: CallbackContext }): Maybe<Event>
  afterRun?(run: { context: CallbackContext }): void | Promise<void>
  /** With the runner. */
  close?(): void | Promise<void>
}
