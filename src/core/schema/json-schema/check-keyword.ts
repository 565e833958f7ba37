// What the value of each keyword of a JSON Schema must be.
import { isRecord } from '../../base/json.ts'
import { clip } from '../../base/limits.ts'
import { compilePattern } from '../pattern/compile-pattern.ts'
import { UnsupportedPatternError } from '../pattern/parse-pattern.ts'
import { isRegularExpression } from '../pattern/regular-expression.ts'
import { adviceFor, KIND_NAMES } from '../unsupported-values.ts'
import { UNCHECKED_FORMATS } from './formats.ts'
import { SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS } from './keywords.ts'

const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'])
const NUMBER_KEYWORDS = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'])
const COUNT_KEYWORD = /^(min|max)(Length|Items|Properties|Contains)$/
const STRING_KEYWORDS = new Set(['$ref', '$id', '$anchor', '$comment', 'title', 'description', 'pattern', 'format'])

/**
 * Why a keyword cannot have this value; undefined when it can. Does not check subschemas. `patterns: false` skips the
 * check of regular expressions and formats.
 */
export function findKeywordProblem(
  keyword: string,
  value: unknown,
  { patterns }: { readonly patterns: boolean },
): string | undefined {
  if (SCHEMA_MAP_KEYWORDS.has(keyword)) {
    if (!isRecord(value)) return 'it must be an object of schemas'
    if (keyword !== 'patternProperties' || !patterns) return undefined
    return Object.keys(value).map(findPatternProblem).find(Boolean)
  }
  if (SCHEMA_LIST_KEYWORDS.has(keyword) && keyword !== 'items')
    return Array.isArray(value) && value.length > 0 ? undefined : 'it must be a list of schemas'
  if (NUMBER_KEYWORDS.has(keyword)) {
    if (typeof value !== 'number' || !Number.isFinite(value)) return 'it must be a number'
    return keyword === 'multipleOf' && value <= 0 ? 'it must be more than 0' : undefined
  }
  if (COUNT_KEYWORD.test(keyword))
    return Number.isInteger(value) && Number(value) >= 0 ? undefined : 'it must be a whole number >= 0'
  if (STRING_KEYWORDS.has(keyword)) return findStringProblem(keyword, value, patterns)
  switch (keyword) {
    case 'type':
      return findTypeProblem(value)
    case 'enum':
      return Array.isArray(value) && value.length > 0 ? undefined : 'it must be a list of values'
    case 'required':
      return isStringList(value) ? undefined : 'it must be a list of property names'
    case 'dependentRequired':
      return isRecord(value) && Object.values(value).every(isStringList)
        ? undefined
        : 'it must be an object of lists of property names'
    case 'uniqueItems':
    case 'nullable':
      return typeof value === 'boolean' ? undefined : 'it must be true or false'
    case '$dynamicRef':
    case '$recursiveRef':
      return `"${keyword}" is not supported; use "$ref"`
    default:
      return undefined
  }
}

function findStringProblem(keyword: string, value: unknown, patterns: boolean): string | undefined {
  if (typeof value !== 'string') return 'it must be a string'
  if (keyword === 'format' && patterns && UNCHECKED_FORMATS.has(value))
    return `the format "${value}" is not checked; use "hostname", or leave it out and check the value in the tool`
  return keyword === 'pattern' && patterns ? findPatternProblem(value) : undefined
}

function findTypeProblem(value: unknown): string | undefined {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value]
  const other = names.find((name) => !TYPES.has(name))
  if (names.length > 0 && other === undefined) return undefined
  const kind = typeof other === 'string' ? other.toLowerCase() : ''
  if (KIND_NAMES.has(kind)) return `it is ${KIND_NAMES.get(kind)}, which JSON cannot hold. ${adviceFor(kind)}`
  return `it must be one of ${[...TYPES].join(', ')}, or a list of them`
}

/** Why a pattern cannot be used; undefined when it can. */
export function findPatternProblem(pattern: string): string | undefined {
  const shown = JSON.stringify(clip(pattern, 200))
  if (!isRegularExpression(pattern)) return `${shown} is not a regular expression (with the "u" flag)`
  try {
    compilePattern(pattern)
    return undefined
  } catch (error) {
    if (!(error instanceof UnsupportedPatternError)) throw error
    return `the pattern ${shown} ${error.message}, so it cannot be matched in bounded time; rewrite the pattern, or check the value in the tool`
  }
}

/** Is it a list of strings? */
export function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
