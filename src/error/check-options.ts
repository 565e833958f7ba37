// Options come from spreads and from JavaScript too, where no type checker has seen them: an option that is misspelled
// or has the wrong type is refused, never ignored.
import { closestNames, isMisspelling } from '../base/closest-names.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { ToolwrightError, type ToolwrightErrorCode } from './error.ts'

/** What the value of one option must be. */
export interface Rule {
  /** Completes the sentence "`option` must be ...". */
  readonly expects: string
  /** For options with a fixed set of values. */
  readonly values?: readonly string[]
  /** What to do about a value that breaks the rule. */
  hint?(value: unknown): string | undefined
  accepts(value: unknown): boolean
}

/** A rule for each option: a type that gains an option does not compile until it has one. */
export type OptionRules<T> = { readonly [K in keyof T]-?: Rule }

type Rules = { readonly [option: string]: Rule }

export const anything: Rule = { expects: 'anything', accepts: () => true }
export const text: Rule = { expects: 'a string', accepts: (value) => typeof value === 'string' }
export const name: Rule = {
  expects: 'a string that is not empty',
  accepts: (value) => typeof value === 'string' && value !== '',
}
export const flag: Rule = { expects: 'true or false', accepts: (value) => typeof value === 'boolean' }
export const callback: Rule = { expects: 'a function', accepts: (value) => typeof value === 'function' }
export const callbacks: Rule = {
  expects: 'a function or a list of functions',
  accepts: (value) => callback.accepts(value) || (Array.isArray(value) && value.every(callback.accepts)),
}
export const textOrCallback: Rule = {
  expects: 'a string or a function',
  accepts: (value) => typeof value === 'string' || typeof value === 'function',
}
/** Of `requiresConfirmation`. */
export const gate: Rule = {
  expects: 'a boolean or a function',
  accepts: (value) => typeof value === 'boolean' || typeof value === 'function',
}
export const list: Rule = { expects: 'a list', accepts: Array.isArray }
export const record: Rule = { expects: 'an object', accepts: isRecord }

/** One of these texts. */
export function oneOf(...values: readonly string[]): Rule {
  return { expects: listed(values, 'or'), values, accepts: (value) => values.includes(value as string) }
}

/** A whole number, `least` or more. */
export function wholeNumber(least: number): Rule {
  return {
    expects: `a whole number >= ${least}`,
    accepts: (value) => Number.isInteger(value) && Number(value) >= least,
  }
}

/** An object in which each of these members is a function. */
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
 * Throws when an option is unknown or breaks its rule. An unknown option is refused even if its value is undefined.
 * Members that a class instance inherits count as options when they are known; other members of the class are refused
 * only when they resemble an option.
 */
export function checkOptions(
  what: string,
  given: unknown,
  rules: Rules,
  code: ToolwrightErrorCode = 'INVALID_CONFIG',
): void {
  if (!isRecord(given)) throw new ToolwrightError(code, `${what} takes an object with options, got ${kindOf(given)}.`)
  for (const option in given) {
    if (Object.hasOwn(rules, option)) checkValue(what, option, given[option], rules, code)
    else if (!(option in Object.prototype)) throw new ToolwrightError(code, `${what}: ${unknownOption(option, rules)}`)
  }
  const prototype: unknown = Object.getPrototypeOf(given)
  if (prototype === Object.prototype || prototype === null) return
  for (const member of memberNames(given)) {
    if (Object.hasOwn(rules, member)) checkValue(what, member, given[member], rules, code)
    else if (closestNames(member, Object.keys(rules)).length)
      throw new ToolwrightError(code, `${what}: ${unknownOption(member, rules)}`)
  }
}

/** Throws when a member breaks its rule, or is most likely a misspelling of one of `guarded`. Other members are free. */
export function checkMembers(
  what: string,
  given: object,
  rules: Rules,
  guarded: { readonly names: readonly string[]; readonly synonyms?: { readonly [said: string]: string } },
): void {
  for (const member of memberNames(given)) {
    if (Object.hasOwn(rules, member)) {
      checkValue(what, member, (given as JsonObject)[member], rules, 'INVALID_CONFIG')
      continue
    }
    const { names, synonyms = {} } = guarded
    const meant = Object.hasOwn(synonyms, member)
      ? synonyms[member]
      : names.find((one) => isMisspelling(member.replace(/_?callback$/i, ''), one))
    if (meant === undefined) continue
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what} has a member "${member}", which is not read. Did you mean "${meant}"? If it is a member of your own, rename it or make it #private.`,
    )
  }
}

function checkValue(what: string, option: string, value: unknown, rules: Rules, code: ToolwrightErrorCode): void {
  const rule = rules[option] as Rule
  if (value === undefined || rule.accepts(value)) return
  const [meant] = rule.values && typeof value === 'string' ? closestNames(value, rule.values) : []
  const advice = rule.hint?.(value)
  const hint = meant !== undefined ? ` Did you mean "${meant}"?` : advice === undefined ? '' : ` ${advice}`
  throw new ToolwrightError(code, `${what}: ${option} must be ${rule.expects}, got ${kindOf(value)}.${hint}`)
}

/** What other agent kits call an option, and its name here. */
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

/** Own and inherited, up to Object.prototype. */
function memberNames(given: object): Set<string> {
  const names = new Set<string>()
  for (let from: object | null = given; from && from !== Object.prototype; from = Object.getPrototypeOf(from))
    for (const one of Object.getOwnPropertyNames(from)) if (one !== 'constructor') names.add(one)
  return names
}
