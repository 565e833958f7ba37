import type { JsonObject } from '../base/json.ts'
import { anything, type OptionRules, textOrCallback } from '../error/check-options.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import { delegate } from '../tool/delegate.ts'
import type { Tool } from '../tool/tool.ts'
import { checkPolicyOptions, invalidPolicy, requireTool } from './wrap.ts'

export interface ConfirmOptions<Args = JsonObject> {
  /** What the human is asked; a function of the arguments, or a text. */
  readonly hint?: string | ((args: Args) => string) | undefined
  /** Which calls need a yes. Default: all. */
  readonly when?: ((args: Args, context: ReadonlyContext) => boolean | Promise<boolean>) | undefined
}

const RULES: OptionRules<ConfirmOptions> = {
  hint: textOrCallback,
  when: anything,
}

/** What a tool's body gets, where its type says so. */
type ArgsIn<T extends Tool> = unknown extends Parameters<T['run']>[0] ? JsonObject : Parameters<T['run']>[0]

/**
 * A human must say yes before the tool runs. What the tool itself demands stays demanded.
 *
 * @example
 * confirm(refund, { hint: ({ amount }) => `Refund ${amount}?`, when: ({ amount }) => amount > 100 })
 */
export function confirm<T extends Tool>(tool: T, options: string | ConfirmOptions<ArgsIn<T>> = {}): T {
  requireTool('confirm', tool)
  // the framework passes what the tool's own schema gave
  const given = typeof options === 'string' ? { hint: options } : ((options ?? {}) as ConfirmOptions)
  checkPolicyOptions('confirm', tool, given, RULES)
  const { hint, when } = given
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
