// Checks the checks themselves: one that is misspelled would never fail.
import { isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { ToolwrightError } from '../../../core/error/error.ts'

/** The members of each kind of check, by the member that names it. */
const MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['calls', ['match']],
  ['never', []],
  ['contains', []],
  ['pattern', []],
  ['similar', ['min']],
  ['json', []],
  ['state', []],
  ['artifacts', []],
  ['requests', []],
  ['limits', []],
  ['check', ['name']],
])
const LIMITS = new Set(['calls', 'modelCalls', 'tokens', 'timeMs', 'cost', 'price'])
const MATCHES = new Set([undefined, 'exact', 'in-order', 'any-order'])

/** Throws INVALID_CONFIG if a check is not valid. `what` names the list in errors. */
export function checkChecks(what: string, checks: unknown): void {
  if (!Array.isArray(checks)) throw invalid(`checks of ${what} must be a list, got ${kindOf(checks)}`)
  for (const check of checks) {
    const problem = problemOf(check)
    if (problem !== undefined) throw invalid(`A check of ${what} ${problem}`)
  }
}

function problemOf(check: unknown): string | undefined {
  if (!isRecord(check)) return `is ${kindOf(check)}`
  const kinds = [...MEMBERS.keys()].filter((kind) => Object.hasOwn(check, kind))
  const [kind] = kinds
  if (kind === undefined) return `has none of ${[...MEMBERS.keys()].join(', ')}`
  if (kinds.length > 1) return `has both ${kinds.join(' and ')}`
  const known = [kind, ...(MEMBERS.get(kind) ?? [])]
  const unknown = Object.keys(check).find((key) => !known.includes(key))
  return unknown === undefined ? problemOfValue(kind, check) : `has an unknown member "${unknown}"`
}

function problemOfValue(kind: string, check: { readonly [key: string]: unknown }): string | undefined {
  const value = check[kind]
  if ((kind === 'calls' || kind === 'requests') && !Array.isArray(value)) return `needs a list as ${kind}`
  if (kind === 'calls' && !MATCHES.has(check.match as string | undefined)) return 'has an unknown match'
  if (kind === 'check' && typeof value !== 'function') return 'needs a function as check'
  if (kind === 'check' && typeof check.name !== 'string') return 'needs a name'
  if (kind === 'similar' && typeof value !== 'string') return 'needs a text as similar'
  if (kind === 'pattern') return patternProblem(value)
  if (kind !== 'limits') return undefined
  if (!isRecord(value) || Object.keys(value).length === 0) return 'needs an object as limits'
  const unknown = Object.keys(value).find((limit) => !LIMITS.has(limit))
  if (unknown !== undefined) return `has an unknown limit "${unknown}"`
  return value.cost !== undefined && typeof value.price !== 'function' ? 'limits the cost and has no price' : undefined
}

function patternProblem(value: unknown): string | undefined {
  if (value instanceof RegExp) return undefined
  if (typeof value !== 'string') return 'needs a pattern'
  try {
    new RegExp(value)
    return undefined
  } catch {
    return 'has a pattern that is no regular expression'
  }
}

function invalid(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `${problem}. Correct it; docs/guides/evaluate.md lists all checks.`)
}
