// Checks the lists that a developer writes: computed values, watchers, phases and patterns.
import { kindOf } from '../../../core/base/kind-of.ts'
import { checkOptions, type Rule } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'

/** A list of strings that are not empty. */
export const NAMES: Rule = {
  expects: 'a list of strings that are not empty',
  accepts: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== ''),
}

/**
 * Throws INVALID_CONFIG unless `items` is a list of objects that follow the rules.
 *
 * @param what The option with the list, such as `watchers`.
 * @param required The options that every item must have.
 */
export function checkItems(
  what: string,
  items: unknown,
  rules: { readonly [option: string]: Rule },
  required: readonly string[],
): void {
  if (!Array.isArray(items)) throw invalidItems(`${what} must be a list, got ${kindOf(items)}.`)
  items.forEach((item, at) => {
    checkItem(`${what}[${at}]`, item, rules, required)
  })
}

/** Throws INVALID_CONFIG unless `item` follows the rules and has all required options. */
export function checkItem(
  what: string,
  item: unknown,
  rules: { readonly [option: string]: Rule },
  required: readonly string[],
): void {
  checkOptions(what, item, rules)
  for (const option of required) {
    if ((item as { readonly [option: string]: unknown })[option] === undefined)
      throw invalidItems(`${what}: ${option} is required.`)
  }
}

/** Throws INVALID_CONFIG if a name occurs twice. `what` is the noun of the error, such as `Phase`. */
export function checkUnique(what: string, names: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) throw invalidItems(`${what} "${name}" is defined twice. Rename one of them.`)
    seen.add(name)
  }
}

/** An INVALID_CONFIG error. */
export function invalidItems(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', problem)
}
