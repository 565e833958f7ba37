// From the keywords that did not hold to issues, described by the schema, never by the value.
import { clip, type Issue } from '../issues.ts'
import { formatPath } from '../value-path.ts'
import type { Failure } from './validation.ts'

/** Turns what did not hold into issues: alternatives at one place are joined by "or". */
export function toIssues(leaves: readonly Failure[]): Issue[] {
  const issues = merge(dropForeignBranches(leaves))
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
      return 'array with the right number of items of one kind'
    case 'oneOf':
      return 'exactly one of the allowed shapes'
    case 'anyOf':
      return 'one of the allowed shapes'
    case 'not':
      return 'anything but what "not" describes'
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

// Of alternatives told apart by a kind or a constant, the ones that are plainly not meant say nothing useful.
function dropForeignBranches(leaves: readonly Failure[]): Failure[] {
  const foreign = new Set<string>()
  const branches = new Map<string, Set<string>>()
  for (const leaf of leaves) {
    const union = unionOf(leaf.at)
    if (union === undefined) continue
    const branch = leaf.at.slice(0, union + 2).join('/')
    const group = leaf.at.slice(0, union + 1).join('/')
    branches.set(group, (branches.get(group) ?? new Set()).add(branch))
    const rest = leaf.at.slice(union + 2).filter((keyword) => keyword !== '$ref')
    const isKind = leaf.keyword === 'type' && rest.length === 1
    const isTag = (leaf.keyword === 'const' || leaf.keyword === 'enum') && rest.length <= 3
    if (isKind || isTag) foreign.add(branch)
  }
  for (const group of branches.values())
    if ([...group].every((branch) => foreign.has(branch))) for (const branch of group) foreign.delete(branch)
  return leaves.filter((leaf) => {
    const union = unionOf(leaf.at)
    return union === undefined || !foreign.has(leaf.at.slice(0, union + 2).join('/'))
  })
}

// The place of the innermost "anyOf" or "oneOf" followed by a branch.
function unionOf(at: readonly string[]): number | undefined {
  for (let i = at.length - 2; i >= 0; i--)
    if ((at[i] === 'anyOf' || at[i] === 'oneOf') && /^\d+$/.test(at[i + 1] ?? '')) return i
  return undefined
}

const MAX_ALTERNATIVES = 20

function merge(leaves: readonly Failure[]): Issue[] {
  const places = new Map<string, { path: string; expected: Set<string> }>()
  for (const leaf of leaves) {
    const path = formatPath(leaf.path)
    const union = unionOf(leaf.at)
    const id = union === undefined ? `${path} ${leaf.at.join('/')}` : `${path} ${leaf.at.slice(0, union + 1).join('/')}`
    const place = places.get(id) ?? { path, expected: new Set() }
    if (place.expected.size < MAX_ALTERNATIVES) place.expected.add(clip(expectedBy(leaf), 2 * MAX_EXPECTED))
    places.set(id, place)
  }
  return Array.from(places.values(), ({ path, expected }) => ({
    path,
    expected: clip([...expected].join(' or '), 4 * MAX_EXPECTED),
  }))
}
