import { anything, type OptionRules } from '../error/check-options.ts'
import type { PolicyCall, Tool } from '../tool/tool.ts'
import { WaitQueue } from './wait.ts'
import { addMiddleware, checkPolicyOptions, invalidPolicy, isCount, checkKey, requireTool } from './wrap.ts'

/** How many calls at once, and of what: all calls of the tool, or those with the same key. */
export interface ConcurrencyOptions {
  max: number
  key?: ((call: PolicyCall) => string) | undefined
}

const RULES: OptionRules<ConcurrencyOptions> = { max: anything, key: anything }

interface Slots {
  running: number
  readonly line: WaitQueue
}

/**
 * At most so many calls at once; the others wait in line, and leave it when they are cancelled.
 *
 * @example
 * concurrency(query, 4)
 * concurrency(query, { max: 1, key: ({ context }) => context.invocation.userId })
 */
export function concurrency<T extends Tool>(tool: T, options: number | ConcurrencyOptions): T {
  requireTool('concurrency', tool)
  if (typeof options !== 'number') checkPolicyOptions('concurrency', tool, options, RULES)
  const { max, key }: ConcurrencyOptions = typeof options === 'number' ? { max: options } : (options ?? {})
  if (!isCount(max)) throw invalidPolicy('concurrency', tool, 'max must be a whole number of at least 1.')
  if (key !== undefined && typeof key !== 'function')
    throw invalidPolicy('concurrency', tool, 'key must be a function.')
  const all = new Map<string, Slots>()
  return addMiddleware(tool, async (call, next) => {
    const id = key ? checkKey('concurrency', tool, key(call)) : ''
    let slots = all.get(id)
    if (!slots) {
      slots = { running: 0, line: new WaitQueue() }
      all.set(id, slots)
    }
    // Whoever ends hands its slot to the first in line, so that nobody overtakes.
    if (slots.running < max) slots.running++
    else await slots.line.wait(call.context.signal)
    try {
      return await next(call)
    } finally {
      if (!slots.line.next() && --slots.running === 0) all.delete(id)
    }
  })
}
