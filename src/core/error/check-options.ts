// Checks options at run time. Spreads and JavaScript callers pass options that no type checker has seen. An option that is
// misspelled or has the wrong type is refused, never ignored.
import { closestNames, isMisspelling } from '../base/closest-names.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { ToolwrightError, type ToolwrightErrorCode } from './error.ts'

/** The rule for the value of one option. */
export interface Rule {
  /** Completes the sentence "`option` must be ...". */
  readonly expects: string
  /** The allowed values, if there is a fixed set. Used for "Did you mean ...?". */
  readonly values?: readonly string[]
  /** Advice for a value that breaks the rule. */
  hint?(value: unknown): string | undefined
  /** Does the value follow the rule? */
  accepts(value: unknown): boolean
}

/** A rule for each option of `T`. A new option without a rule is a compile error. */
export type OptionRules<T> = { readonly [K in keyof T]-?: Rule }

type Rules = { readonly [option: string]: Rule }

/** Any value. For options that are checked elsewhere. */
export const anything: Rule = { expects: 'anything', accepts: () => true }
/** A string. */
export const text: Rule = { expects: 'a string', accepts: (value) => typeof value === 'string' }
/** A string that is not empty. */
export const name: Rule = {
  expects: 'a string that is not empty',
  accepts: (value) => typeof value === 'string' && value !== '',
}
/** A boolean. */
export const flag: Rule = { expects: 'true or false', accepts: (value) => typeof value === 'boolean' }
/** A function. */
export const callback: Rule = { expects: 'a function', accepts: (value) => typeof value === 'function' }
/** A function or a list of functions. */
export const callbacks: Rule = {
  expects: 'a function or a list of functions',
  accepts: (value) => callback.accepts(value) || (Array.isArray(value) && value.every(callback.accepts)),
}
/** A string or a function. */
export const textOrCallback: Rule = {
  expects: 'a string or a function',
  accepts: (value) => typeof value === 'string' || typeof value === 'function',
}
/** The rule of `requiresConfirmation`. */
export const gate: Rule = {
  expects: 'a boolean or a function',
  accepts: (value) => typeof value === 'boolean' || typeof value === 'function',
}
/** An array. */
export const list: Rule = { expects: 'a list', accepts: Array.isArray }
/** An object that is not an array. */
export const record: Rule = { expects: 'an object', accepts: isRecord }

/** An object, or a list. */
export const recordOrList: Rule = {
  expects: 'an object or a list of objects',
  accepts: (value) => isRecord(value) || Array.isArray(value),
}

/** One of the given strings. */
export function oneOf(...values: readonly string[]): Rule {
  return { expects: listed(values, 'or'), values, accepts: (value) => values.includes(value as string) }
}

/** A whole number >= `min`. */
export function wholeNumber(min: number): Rule {
  return {
    expects: `a whole number >= ${min}`,
    accepts: (value) => Number.isInteger(value) && Number(value) >= min,
  }
}

/** An object with these methods. */
export function objectWith(...methods: readonly string[]): Rule {
  return {
    expects: `an object with ${listed(methods, 'and')}`,
    accepts: (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((one) => callback.accepts((value as JsonObject)[one])),
  }
}

/**
 * Throws if an option is unknown or breaks its rule. An unknown option is refused even if its value is undefined. Members
 * that a class instance inherits count as options if they are known. Other members of the class are refused only if they
 * resemble an option.
 *
 * @param what Names the owner of the options in errors, such as `new Runner()`.
 */
export function checkOptions(
  what: string,
  given: unknown,
  rules: Rules,
  code: ToolwrightErrorCode = 'INVALID_CONFIG',
): void {
  if (!isRecord(given)) throw new ToolwrightError(code, `${what} takes an object with options, got ${kindOf(given)}.`)
  const checked: Checked = { what, rules, code }
  for (const option in given) {
    if (Object.hasOwn(rules, option)) checkValue(checked, option, given[option])
    else if (!(option in Object.prototype)) throw new ToolwrightError(code, `${what}: ${unknownOption(option, rules)}`)
  }
  const prototype: unknown = Object.getPrototypeOf(given)
  if (prototype === Object.prototype || prototype === null) return
  for (const member of memberNames(given)) {
    if (Object.hasOwn(rules, member)) checkValue(checked, member, given[member])
    else if (closestNames(member, Object.keys(rules)).length)
      throw new ToolwrightError(code, `${what}: ${unknownOption(member, rules)}`)
  }
}

/** Throws if a member breaks its rule, or is most likely a misspelling of one of `guarded`. Other members are allowed. */
export function checkMembers(
  what: string,
  given: object,
  rules: Rules,
  guarded: { readonly names: readonly string[]; readonly synonyms?: { readonly [name: string]: string } },
): void {
  const checked: Checked = { what, rules, code: 'INVALID_CONFIG' }
  for (const member of memberNames(given)) {
    if (Object.hasOwn(rules, member)) {
      checkValue(checked, member, (given as JsonObject)[member])
      continue
    }
    const { names, synonyms = {} } = guarded
    const meant = Object.hasOwn(synonyms, member)
      ? synonyms[member]
      : names.find((one) => isMisspelling(member.replace(/_?callback$/i, ''), one))
    if (meant === undefined) continue
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what} has an unknown member "${member}". Did you mean "${meant}"? If it is a member of your own, rename it or make it #private.`,
    )
  }
}

interface Checked {
  readonly what: string
  readonly rules: Rules
  readonly code: ToolwrightErrorCode
}

function checkValue({ what, rules, code }: Checked, option: string, value: unknown): void {
  const rule = rules[option] as Rule
  if (value === undefined || rule.accepts(value)) return
  const [meant] = rule.values && typeof value === 'string' ? closestNames(value, rule.values) : []
  const advice = rule.hint?.(value)
  const hint = meant !== undefined ? ` Did you mean "${meant}"?` : advice === undefined ? '' : ` ${advice}`
  throw new ToolwrightError(code, `${what}: ${option} must be ${rule.expects}, got ${kindOf(value)}.${hint}`)
}

/** Names of options in other agent kits, with their names here. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['execute', ['run']],
  ['handler', ['run']],
  ['inputSchema', ['parameters']],
  ['needsApproval', ['requiresConfirmation']],
  ['system', ['instruction']],
  ['handoffs', ['subAgents']],
  ['agents', ['subAgents']],
  ['outputType', ['outputSchema']],
  ['output', ['outputSchema']],
  ['modelSettings', ['generateContentConfig']],
  ['maxTurns', ['maxIterations', 'maxLlmCalls']],
  ['maxSteps', ['maxIterations', 'maxLlmCalls']],
  ['stopWhen', ['maxIterations', 'maxLlmCalls']],
  ['prompt', ['message', 'instruction']],
  ['input', ['message']],
  ['messages', ['message']],
  ['context', ['runContext']],
])

function unknownOption(option: string, rules: Rules): string {
  const names = Object.keys(rules)
  const [meant] = [
    ...(SYNONYMS.get(option) ?? []).filter((one) => Object.hasOwn(rules, one)),
    ...closestNames(option, names),
  ]
  const shown = option.length > 64 ? `${option.slice(0, 64)}...` : option
  if (meant !== undefined) return `unknown option "${shown}". Did you mean "${meant}"?`
  return `unknown option "${shown}". ${names.length ? `The options are ${listed(names, 'and')}.` : 'It takes no options.'}`
}

function listed(names: readonly string[], word: 'and' | 'or'): string {
  const quoted = names.map((one) => `"${one}"`)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} ${word} ${quoted.at(-1)}`
}

/** The names of own and inherited members, without those of Object.prototype. */
function memberNames(given: object): Set<string> {
  const names = new Set<string>()
  for (let from: object | null = given; from && from !== Object.prototype; from = Object.getPrototypeOf(from))
    for (const one of Object.getOwnPropertyNames(from)) if (one !== 'constructor') names.add(one)
  return names
}
