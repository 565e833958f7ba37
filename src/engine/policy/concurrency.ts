import { callback, flag, type OptionRules } from '../../core/error/check-options.ts'
import type { PolicyCall, Tool } from '../tool/tool.ts'
import { addMiddleware } from './add-middleware.ts'
import { COUNT, checkKey, checkPolicyOptions, requireOption, requireTool } from './check-policy.ts'
import { noteTurn } from './note-turn.ts'
import { addSharedLimit } from './shared-limit.ts'
import { WaitQueue } from './wait-queue.ts'

/** Options of `concurrency()`. */
export interface ConcurrencyOptions {
  /** Maximum number of calls that run at the same time: in this process, or with `shared` in all processes. */
  max: number
  /** The group of a call; `max` applies to each group. Default: all calls of the tool are one group. */
  key?: ((call: PolicyCall) => string) | undefined
  /**
   * Counts the calls of all processes whose runners have the same store. Users take turns: who has the fewest calls comes first. A call
   * fails if the store does. Default false.
   */
  shared?: boolean | undefined
}

const RULES: OptionRules<ConcurrencyOptions> = { max: COUNT, key: callback, shared: flag }

interface Slots {
  running: number
  readonly queue: WaitQueue
}

/**
 * Limits how many calls of a tool run at the same time. Further calls wait in order. A cancelled call leaves the queue. A
 * number as the second argument is `max`.
 *
 * @example
 * const query = concurrency(runQuery, 4)
 * const queryOfFleet = concurrency(runQuery, { max: 20, shared: true })
 * const queryPerUser = concurrency(runQuery, { max: 1, key: ({ context }) => context.invocation.userId })
 */
export function concurrency<T extends Tool>(tool: T, options: number | ConcurrencyOptions): T {
  requireTool('concurrency', tool)
  const given = typeof options === 'number' ? { max: options } : options
  checkPolicyOptions('concurrency', tool, given, RULES)
  const { max, key, shared }: ConcurrencyOptions = given ?? {}
  requireOption('concurrency', tool, 'max', max)
  if (shared) return addSharedLimit('concurrency', tool, { max, key })
  const groups = new Map<string, Slots>()
  return addMiddleware(tool, async (call, next) => {
    const group = key ? checkKey('concurrency', tool, key(call)) : ''
    let slots = groups.get(group)
    if (!slots) {
      slots = { running: 0, queue: new WaitQueue() }
      groups.set(group, slots)
    }
    // a call that ends passes its slot to the first in the queue, so that no later call overtakes
    if (slots.running < max) slots.running++
    else await noteTurn(call.context, 'concurrency', slots.queue.wait(call.context.signal))
    try {
      return await next(call)
    } finally {
      if (!slots.queue.next() && --slots.running === 0) groups.delete(group)
    }
  })
}
