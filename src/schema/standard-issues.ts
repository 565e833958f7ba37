// What the validators say, without the value they say it about. Messages quote the value ("but received 'hunter2'"),
// so only fields that come from the schema are read, and messages only where a developer wrote them.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isRecord } from '../base/json.ts'
import { clip, type Issue } from './parsed.ts'
import { pathText } from './path.ts'

/** The fields the three libraries add to a Standard Schema issue. */
interface RichIssue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
  readonly [field: string]: unknown
}

/** Turns the issues of a Standard Schema into ours. */
export function standardIssues(issues: readonly StandardSchemaV1.Issue[]): Issue[] {
  const found: Issue[] = []
  for (const issue of issues) collect(issue as unknown as RichIssue, [], found)
  return found
}

const MAX_ISSUES = 100
const MAX_EXPECTED = 2_000

function collect(issue: RichIssue, base: readonly PropertyKey[], found: Issue[]): void {
  if (found.length >= MAX_ISSUES) return
  const path = [...base, ...keysOf(issue.path)]
  const add = (expected: string, keys: readonly PropertyKey[] = path) => {
    found.push({ path: pathText(keys), expected: clip(expected, MAX_EXPECTED) })
  }
  if (issue.code === 'unrecognized_keys' && Array.isArray(issue.keys)) {
    for (const key of issue.keys.slice(0, MAX_ISSUES)) add('no such property', [...path, String(key)])
  } else if (issue.code === 'invalid_union' && Array.isArray(issue.errors) && issue.errors.length > 0) {
    collectUnion(issue.errors, path, found)
  } else if (issue.code === 'intersection' && Array.isArray(issue.errors)) {
    for (const part of issue.errors) collect(part, base, found)
  } else add(zodText(issue) ?? arkTypeText(issue) ?? valibotText(issue) ?? 'a valid value')
}

// Branches that fail at the union itself are alternatives; one that got further is what the caller meant.
function collectUnion(branches: readonly (readonly RichIssue[])[], path: PropertyKey[], found: Issue[]): void {
  const deeper = branches.filter(
    (branch) => branch.length > 0 && branch.every((issue) => keysOf(issue.path).length > 0),
  )
  const [meant] = deeper
  if (meant && deeper.length === 1) {
    for (const issue of meant) collect(issue, path, found)
    return
  }
  const choices: Issue[] = []
  if (!meant) for (const branch of branches) for (const issue of branch) collect(issue, path, choices)
  const texts = new Set(choices.map(({ expected }) => expected))
  const expected = texts.size > 0 ? [...texts].join(' or ') : 'one of the allowed shapes'
  found.push({ path: pathText(path), expected: clip(expected, MAX_EXPECTED) })
}

function zodText(issue: RichIssue): string | undefined {
  const bound = (limit: unknown, inclusive: string, exclusive: string) => {
    const unit = UNITS.get(String(issue.origin))
    const sign = issue.exact ? 'exactly' : issue.inclusive === false ? exclusive : inclusive
    return unit ? `${issue.origin} of ${sign} ${String(limit)} ${unit}` : `${issue.origin} ${sign} ${String(limit)}`
  }
  switch (issue.code) {
    case 'invalid_type':
      return typeof issue.expected === 'string' ? (issue.expected === 'int' ? 'integer' : issue.expected) : undefined
    case 'invalid_value':
      return Array.isArray(issue.values) ? issue.values.slice(0, MAX_ISSUES).map(literal).join(' or ') : undefined
    case 'too_small':
      return bound(issue.minimum, 'at least', 'more than')
    case 'too_big':
      return bound(issue.maximum, 'at most', 'less than')
    case 'not_multiple_of':
      return `multiple of ${String(issue.divisor)}`
    case 'invalid_format':
      if (issue.format === 'regex') return `text that matches ${String(issue.pattern)}`
      if (issue.prefix !== undefined) return `text that starts with ${literal(issue.prefix)}`
      if (issue.suffix !== undefined) return `text that ends with ${literal(issue.suffix)}`
      if (issue.includes !== undefined) return `text that includes ${literal(issue.includes)}`
      return `valid ${String(issue.format)}`
    case 'invalid_key':
      return 'an allowed key'
    case 'invalid_union':
      return Array.isArray(issue.options) ? issue.options.map(literal).join(' or ') : undefined
    case 'custom':
      return issue.message === 'Invalid input' ? undefined : issue.message
    default:
      return undefined
  }
}

const UNITS = new Map([
  ['string', 'characters'],
  ['array', 'items'],
  ['set', 'items'],
  ['map', 'entries'],
  ['file', 'bytes'],
])

function arkTypeText(issue: RichIssue): string | undefined {
  if (typeof issue.code !== 'string' || typeof issue.expected !== 'string') return undefined
  // Of a union's text the value is a part; its branches are free of it.
  if (issue.code === 'union' && Array.isArray(issue.errors)) {
    const parts: readonly RichIssue[] = issue.errors
    return [...new Set(parts.map((part) => arkTypeText(part) ?? 'another shape'))].join(' or ')
  }
  if (issue.expected === 'removed') return 'no such property'
  return issue.expected.includes('(was ') ? undefined : issue.expected
}

function valibotText(issue: RichIssue): string | undefined {
  const { kind, type, expected, received, message } = issue
  if (typeof kind !== 'string' || typeof type !== 'string') return undefined
  if (expected === 'never') return 'no such property'
  if (type.endsWith('object') && received === 'undefined') return 'a value (required)'
  if (typeof expected === 'string') return expected
  if (!/check|custom/.test(type)) return `valid ${type.replaceAll('_', ' ')}`
  const quotes = message.includes('eceived') || (typeof received === 'string' && message.includes(unquoted(received)))
  return quotes ? undefined : message
}

function unquoted(text: string): string {
  return text.length > 2 && text.startsWith('"') ? text.slice(1, -1) : text
}

function literal(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function keysOf(path: readonly unknown[] | undefined): PropertyKey[] {
  if (!path) return []
  return Array.from(path, (part) => (isRecord(part) ? part.key : part) as PropertyKey)
}
