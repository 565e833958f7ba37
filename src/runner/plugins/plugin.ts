import { CALLBACK_RULES, type Callbacks } from '../../agent/agents/callbacks.ts'
import type { Content } from '../../content/content.ts'
import { callback, checkMembers, type OptionRules, text } from '../../error/check-options.ts'
import type { Event } from '../../event/event.ts'
import type { CallbackContext } from '../../tool/context.ts'

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

const RULES: OptionRules<Plugin> = {
  name: text,
  ...CALLBACK_RULES,
  beforeRun: callback,
  onEvent: callback,
  afterRun: callback,
  close: callback,
}

const HOOKS = {
  names: Object.keys(RULES).filter((member) => member !== 'name' && member !== 'close'),
  synonyms: { onUserMessage: 'beforeRun', onUserMessageCallback: 'beforeRun', beforeToolCall: 'beforeTool' },
}

/** Throws INVALID_CONFIG when a hook is no function, or a member is most likely a misspelled hook. */
export function checkPlugin(plugin: Plugin): void {
  checkMembers(`Plugin "${plugin.name}"`, plugin, RULES, HOOKS)
}
