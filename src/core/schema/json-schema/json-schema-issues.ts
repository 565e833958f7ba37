// Describes failures as issues, in terms of the schema and never of the value.
import { clip } from '../../base/limits.ts'
import type { SchemaIssue } from '../issues.ts'
import { formatPath } from '../value-path.ts'
import type { Failure } from './validation.ts'

/** Converts failures to issues. Alternatives at one position are joined by "or". */
export function toIssues(failures: readonly Failure[]): SchemaIssue[] {
  const issues = merge(dropOtherBranches(failures))
  return issues.length > 0 ? issues : [{ path: '', expected: 'a valid value' }]
}

const MAX_EXPECTED = 500

function expectedBy({ keyword, schema, path }: Failure): string {
  const limit = String(schema[keyword])
  switch (keyword) {
    case 'false':
      return typeof path.at(-1) === 'number' ? 'no such item' : 'no such property'
    case 'type':
      return schema.type === undefined ? 'a JSON value' : [schema.type].flat().join(' or ')
    case 'required':
      return 'a value (required)'
    case 'const':
      return JSON.stringify(schema.const)
    case 'enum':
      return choices(schema.enum)
    case 'format':
      return `valid ${limit}`
    case 'pattern':
      return `text that matches /${limit}/`
    case 'minimum':
      return `number at least ${limit}`
    case 'maximum':
      return `number at most ${limit}`
    case 'exclusiveMinimum':
      return `number more than ${limit}`
    case 'exclusiveMaximum':
      return `number less than ${limit}`
    case 'multipleOf':
      return `multiple of ${limit}`
    case 'minLength':
    case 'maxLength':
      return `string of at ${keyword === 'minLength' ? 'least' : 'most'} ${limit} characters`
    case 'minItems':
    case 'maxItems':
      return `array of at ${keyword === 'minItems' ? 'least' : 'most'} ${limit} items`
    case 'minProperties':
    case 'maxProperties':
      return `object of at ${keyword === 'minProperties' ? 'least' : 'most'} ${limit} properties`
    case 'uniqueItems':
      return 'array without duplicates'
    case 'contains':
      return 'array with the required number of items that match "contains"'
    case 'oneOf':
      return 'exactly one of the allowed shapes'
    case 'anyOf':
      return 'one of the allowed shapes'
    case 'not':
      return 'a value that does not match "not"'
    default:
      return 'a valid value'
  }
}

function choices(values: unknown): string {
  let text = ''
  for (const [i, value] of Array.isArray(values) ? values.entries() : []) {
    if (text.length > MAX_EXPECTED) return `${text} or another listed value`
    text += `${i > 0 ? ' or ' : ''}${clip(JSON.stringify(value), MAX_EXPECTED)}`
  }
  return text
}

// Branches of a union that differ in a type or a constant: a branch that the value does not belong to is left out. If the value
// belongs to none because of a tag that they share, only the tag is reported.
function dropOtherBranches(failures: readonly Failure[]): Failure[] {
  const unions = new Map<string, Union>()
  for (const failure of failures) {
    const at = unionOf(failure.at)
    if (at === undefined) continue
    const branch = failure.at[at + 1] ?? ''
    const name = failure.at.slice(0, at + 1).join('/')
    const union = unions.get(name) ?? { branches: new Set(), others: new Set(), tags: new Map() }
    unions.set(name, union)
    union.branches.add(branch)
    const rest = failure.at.slice(at + 2).filter((keyword) => keyword !== '$ref')
    const isKind = failure.keyword === 'type' && rest.length === 1
    const isTag = (failure.keyword === 'const' || failure.keyword === 'enum') && rest.length <= 3
    if (isKind || isTag) union.others.add(branch)
    if (isTag) union.tags.set(formatPath(failure.path), (union.tags.get(formatPath(failure.path)) ?? 0) + 1)
  }
  return failures.filter((failure) => {
    const at = unionOf(failure.at)
    const union = at === undefined ? undefined : unions.get(failure.at.slice(0, at + 1).join('/'))
    if (at === undefined || union === undefined) return true
    if (union.others.size < union.branches.size) return !union.others.has(failure.at[at + 1] ?? '')
    const isShared = [...union.tags.values()].some((branches) => branches > 1)
    return !isShared || (union.tags.get(formatPath(failure.path)) ?? 0) > 1
  })
}

/** What failed in a union. */
interface Union {
  /** Branches with a failure. */
  readonly branches: Set<string>
  /** Branches that the value does not belong to, by its type or by a constant. */
  readonly others: Set<string>
  /** How many branches refuse the constant at a path. */
  readonly tags: Map<string, number>
}

/** The position in `at` of the innermost "anyOf" or "oneOf" that a branch follows. */
function unionOf(at: readonly string[]): number | undefined {
  for (let i = at.length - 2; i >= 0; i--)
    if ((at[i] === 'anyOf' || at[i] === 'oneOf') && /^\d+$/.test(at[i + 1] ?? '')) return i
  return undefined
}

const MAX_ALTERNATIVES = 20

function merge(failures: readonly Failure[]): SchemaIssue[] {
  const positions = new Map<string, { path: string; expected: Set<string> }>()
  for (const failure of failures) {
    const path = formatPath(failure.path)
    const union = unionOf(failure.at)
    const id =
      union === undefined ? `${path} ${failure.at.join('/')}` : `${path} ${failure.at.slice(0, union + 1).join('/')}`
    const found = positions.get(id) ?? { path, expected: new Set() }
    if (found.expected.size < MAX_ALTERNATIVES) found.expected.add(clip(expectedBy(failure), 2 * MAX_EXPECTED))
    positions.set(id, found)
  }
  return Array.from(positions.values(), ({ path, expected }) => ({
    path,
    expected: clip([...expected].join(' or '), 4 * MAX_EXPECTED),
  }))
}
