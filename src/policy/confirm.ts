import type { JsonObject } from '../base/json.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import { delegate } from '../tool/delegate.ts'
import type { Tool } from '../tool/tool.ts'
import { invalidPolicy, requireTool } from './wrap.ts'

export interface ConfirmOptions {
  /** What the human is asked; a function of the arguments, or a text. */
  readonly hint?: string | ((args: JsonObject) => string) | undefined
  /** Which calls need a yes. Default: all. */
  readonly when?: ((args: JsonObject, context: ReadonlyContext) => boolean | Promise<boolean>) | undefined
}

/**
 * A human must say yes before the tool runs. What the tool itself demands stays demanded.
 *
 * @example
 * confirm(refund, { hint: ({ amount }) => `Refund ${amount}?`, when: ({ amount }) => Number(amount) > 100 })
 */
export function confirm<T extends Tool>(tool: T, options: string | ConfirmOptions = {}): T {
  requireTool('confirm', tool)
  const { hint, when } = typeof options === 'string' ? { hint: options, when: undefined } : options
  if (when !== undefined && typeof when !== 'function') throw invalidPolicy('confirm', tool, 'when must be a function.')
  const own = tool.requiresConfirmation
  const requiresConfirmation: Tool['requiresConfirmation'] =
    when && own !== true
      ? async (args, context) => {
          if (typeof own === 'function' && (await own.call(tool, args, context)) !== false) return true
          return (await when(args, context)) !== false
        }
      : true
  const said = typeof hint === 'string' ? () => hint : hint
  return delegate(tool, { requiresConfirmation, ...(said && { confirmationHint: said }) })
}
