// Converts the issues of Standard Schema validators without the value. Default messages quote the value ("but received
// 'hunter2'"), so only fields that come from the schema are read. A message is kept if the author of the schema wrote it
// and it does not repeat the value.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isRecord } from '../../base/json.ts'
import { clip } from '../../base/limits.ts'
import { type SchemaIssue, VALID_VALUE } from '../issues.ts'
import { formatPath } from '../value-path.ts'

/** A Standard Schema issue with the fields that Zod, ArkType and Valibot add. */
interface RichIssue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
  readonly [field: string]: unknown
}

/** Converts the issues that a Standard Schema found in `value`. */
export function toIssues(issues: readonly StandardSchemaV1.Issue[], value: unknown): SchemaIssue[] {
  const found: SchemaIssue[] = []
  for (const issue of issues) collect(issue as unknown as RichIssue, [], found, value)
  return found
}

const MAX_ISSUES = 100
const MAX_EXPECTED = 2_000
const MAX_MESSAGE = 500

function collect(issue: RichIssue, base: readonly PropertyKey[], found: SchemaIssue[], value: unknown): void {
  if (found.length >= MAX_ISSUES) return
  const path = [...base, ...keysOf(issue.path)]
  const message = authoredMessage(issue, path, value)
  const add = (expected: string, keys: readonly PropertyKey[] = path) => {
    found.push({ path: formatPath(keys), expected: clip(expected, MAX_EXPECTED), ...(message && { message }) })
  }
  if (issue.code === 'unrecognized_keys' && Array.isArray(issue.keys)) {
    for (const key of issue.keys.slice(0, MAX_ISSUES)) add('no such property', [...path, String(key)])
  } else if (!message && issue.code === 'invalid_union' && Array.isArray(issue.errors) && issue.errors.length > 0) {
    collectUnion(issue.errors, path, found, value)
  } else if (!message && issue.code === 'intersection' && Array.isArray(issue.errors)) {
    for (const part of issue.errors) collect(part, base, found, value)
  } else add(zodText(issue) ?? arkTypeText(issue) ?? valibotText(issue) ?? VALID_VALUE)
}

// Branches that fail at the union itself are alternatives. If one branch alone fails deeper, the caller meant that branch.
function collectUnion(
  branches: readonly (readonly RichIssue[])[],
  path: PropertyKey[],
  found: SchemaIssue[],
  value: unknown,
): void {
  const deeper = branches.filter(
    (branch) => branch.length > 0 && branch.every((issue) => keysOf(issue.path).length > 0),
  )
  const [meant] = deeper
  if (meant && deeper.length === 1) {
    for (const issue of meant) collect(issue, path, found, value)
    return
  }
  const choices: SchemaIssue[] = []
  if (!meant) for (const branch of branches) for (const issue of branch) collect(issue, path, choices, value)
  const texts = new Set(
    choices.map(({ expected, message }) => (expected === VALID_VALUE ? (message ?? expected) : expected)),
  )
  const expected = texts.size > 0 ? [...texts].join(' or ') : 'one of the allowed shapes'
  found.push({ path: formatPath(path), expected: clip(expected, MAX_EXPECTED) })
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
  // The text of a union contains the value; the texts of its branches do not.
  if (issue.code === 'union' && Array.isArray(issue.errors)) {
    const parts: readonly RichIssue[] = issue.errors
    return [...new Set(parts.map((part) => arkTypeText(part) ?? 'another shape'))].join(' or ')
  }
  if (issue.expected === 'removed') return 'no such property'
  return issue.expected.includes('(was ') ? undefined : issue.expected
}

function valibotText(issue: RichIssue): string | undefined {
  const { kind, type, expected, received } = issue
  if (typeof kind !== 'string' || typeof type !== 'string') return undefined
  if (expected === 'never') return 'no such property'
  if (type.endsWith('object') && received === 'undefined') return 'a value (required)'
  if (typeof expected === 'string') return expected
  return /check|custom/.test(type) ? undefined : `valid ${type.replaceAll('_', ' ')}`
}

/** The message of an issue, if the author of the schema wrote it and it does not repeat the value. */
function authoredMessage(issue: RichIssue, path: readonly PropertyKey[], value: unknown): string | undefined {
  const message = arkTypeMessage(issue) ?? zodMessage(issue) ?? valibotMessage(issue)
  if (typeof message !== 'string' || message.trim() === '' || repeatsValue(message, valueAt(value, path)))
    return undefined
  return clip(message, MAX_MESSAGE)
}

// The default messages of Zod in English. Other locales are chosen by the developer, and show types but no values.
const ZOD_DEFAULTS: { readonly [code: string]: RegExp } = {
  invalid_type: /^Invalid input: expected /,
  invalid_value: /^Invalid (?:input|option): expected /,
  too_small: /^Too small: expected /,
  too_big: /^Too big: expected /,
  not_multiple_of: /^Invalid number: must be a multiple of /,
  invalid_format:
    /^Invalid (?:string: must .*|input|emoji|[A-Z]{3,}\w*|nanoid|cuid2?|ISO \w+|\w+ (?:address|range|code)|[\w.-]+ (?:string|number)|credit card number)$/s,
  unrecognized_keys: /^Unrecognized keys?: /,
  invalid_key: /^Invalid key in /,
  invalid_element: /^Invalid value in /,
  invalid_union: /^Invalid (?:input|discriminator value)/,
  custom: /^Invalid input$/,
}

function zodMessage({ code, message, format }: RichIssue): string | undefined {
  const written = typeof code === 'string' && Object.hasOwn(ZOD_DEFAULTS, code) ? ZOD_DEFAULTS[code] : undefined
  return written && !written.test(message) && message !== `Invalid ${String(format)}` ? message : undefined
}

function valibotMessage({ kind, type, message }: RichIssue): string | undefined {
  if (typeof kind !== 'string' || typeof type !== 'string') return undefined
  return /^Invalid [^:]*: (?:Expected .* but r|R)eceived /s.test(message) ? undefined : message
}

// ArkType writes "must be <expected> (was <actual>)", after the path.
function arkTypeMessage(issue: RichIssue): string | undefined {
  if (typeof issue.code !== 'string' || issue[' arkKind'] !== 'error') return undefined
  const { message, problem, expected } = issue
  if (typeof problem !== 'string') return undefined
  const isDefault = problem.startsWith(`must be ${String(expected)}`) || problem.startsWith('(')
  if (!message.toLowerCase().includes(problem.toLowerCase())) return message
  return isDefault || issue.code === 'union' || issue.code === 'intersection' ? undefined : problem
}

/** The shortest value that counts as repeated. Shorter values reveal nothing, and occur in many messages by chance. */
const MIN_REPEATED = 4

function repeatsValue(message: string, value: unknown): boolean {
  if (typeof value === 'object' || value === undefined) return false
  const text = String(value)
  return text.length >= MIN_REPEATED && message.includes(text)
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let part = value
  for (const key of path) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined
    part = Reflect.get(part, key)
  }
  return part
}

function literal(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function keysOf(path: readonly unknown[] | undefined): PropertyKey[] {
  if (!path) return []
  return Array.from(path, (part) => (isRecord(part) ? part.key : part) as PropertyKey)
}
