import type { JsonObject } from '../../core/base/json.ts'
import { callback, type OptionRules, textOrCallback } from '../../core/error/check-options.ts'
import type { ReadonlyContext } from '../context/context.ts'
import { overrideTool } from '../tool/override-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { checkPolicyOptions, requireTool } from './check-policy.ts'

/** Options of `confirm()`. */
export interface ConfirmOptions<Args = JsonObject> {
  /** The question to the approver: a text, or a function of the arguments. Default: a text with the tool's name. */
  readonly hint?: string | ((args: Args) => string) | undefined
  /** Which calls need an approval. Every result except `false` requires one. Default: all calls. */
  readonly when?: ((args: Args, context: ReadonlyContext) => boolean | Promise<boolean>) | undefined
}

const RULES: OptionRules<ConfirmOptions> = { hint: textOrCallback, when: callback }

/** The arguments of the tool's body, if its type declares them. */
type ArgsIn<T extends Tool> = unknown extends Parameters<T['run']>[0] ? JsonObject : Parameters<T['run']>[0]

/**
 * Requires an approval before the tool runs. Calls that the tool's own `requiresConfirmation` covers still need one. A
 * string as the second argument is the `hint`.
 *
 * @example
 * const safeRefund = confirm(refund, { hint: ({ amount }) => `Refund ${amount}?`, when: ({ amount }) => amount > 100 })
 */
export function confirm<T extends Tool>(tool: T, options: string | ConfirmOptions<ArgsIn<T>> = {}): T {
  requireTool('confirm', tool)
  // the cast holds: the framework passes arguments that the tool's own schema has parsed
  const given = typeof options === 'string' ? { hint: options } : ((options ?? {}) as ConfirmOptions)
  checkPolicyOptions('confirm', tool, given, RULES)
  const { hint, when } = given
  const own = tool.requiresConfirmation
  const requiresConfirmation: Tool['requiresConfirmation'] =
    when && own !== true
      ? async (args, context) => {
          if (typeof own === 'function' && (await own.call(tool, args, context)) !== false) return true
          return (await when(args, context)) !== false
        }
      : true
  const confirmationHint = typeof hint === 'string' ? () => hint : hint
  return overrideTool(tool, { requiresConfirmation, ...(confirmationHint && { confirmationHint }) })
}
