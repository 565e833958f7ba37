import type { Content } from '../../../core/content/content.ts'
import { callback, checkMembers, type OptionRules, text } from '../../../core/error/check-options.ts'
import type { Event } from '../../../core/event/event.ts'
import { CALLBACK_RULES, type Callbacks } from '../../agent/agents/callbacks.ts'
import type { CallbackContext } from '../../context/context.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: a callback may return nothing
type Maybe<T> = undefined | void | T | Promise<undefined | void | T>

/**
 * Callbacks for all agents of a runner. They run before the callbacks of the agents.
 *
 * @example
 * const audit: Plugin = {
 *   name: 'audit',
 *   afterTool: ({ tool, args }) => console.log(tool.name, args),
 * }
 */
export interface Plugin extends Callbacks {
  /** Names the plugin in errors and warnings. */
  readonly name: string
  /** Called before the user's message is recorded. State changes are recorded with the message. Throw to stop the run. */
  beforeRun?(run: { message: Content | undefined; context: CallbackContext }): void | Promise<void>
  /** Called before an event is recorded, and before a partial event is yielded. A returned event replaces it. */
  onEvent?(seen: { event: Event; context: CallbackContext }): Maybe<Event>
  /** Called when the run has completed, paused, failed or was cancelled. State changes are recorded unless it was cancelled. */
  afterRun?(run: { context: CallbackContext }): void | Promise<void>
  /** Called by `runner.close()`. */
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

/** Throws INVALID_CONFIG when a hook is not a function, or a member looks like a misspelled hook. */
export function checkPlugin(plugin: Plugin): void {
  checkMembers(`Plugin "${plugin.name}"`, plugin, RULES, HOOKS)
}
