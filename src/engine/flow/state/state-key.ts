import { name as nameRule } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ReadonlyState, State } from '../../context/context.ts'

/** A state key with the type of its value. The type is not checked when the value is read. */
export interface StateKey<T> {
  /** The key, with its prefix. */
  readonly name: string
  /** Returns a copy of the value. Undefined if the key is absent. */
  get(state: ReadonlyState): T | undefined
  /** Sets the value. */
  set(state: State, value: T): void
  /** Deletes the key. */
  delete(state: State): void
}

/**
 * Gives a state key a type, so that reads and writes agree.
 *
 * @example
 * const cart = stateKey<{ items: string[] }>('cart')
 * cart.set(context.state, { items: ['tea'] })
 */
export function stateKey<T>(name: string): StateKey<T> {
  if (!nameRule.accepts(name)) throw new ToolwrightError('INVALID_CONFIG', `stateKey() takes ${nameRule.expects}.`)
  return {
    name,
    get: (state) => state.get<T>(name),
    set: (state, value) => state.set(name, value),
    delete: (state) => state.delete(name),
  }
}
