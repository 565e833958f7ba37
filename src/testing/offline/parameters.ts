import { isRecord, type JsonObject } from '../../base/json.ts'
import { type Kind, kindOf } from './kinds.ts'
import { isRequired, propertiesOf, resolved, typeOf } from './schema.ts'
import { contentStems, nameWords, stem } from './words.ts'

/** One value a tool takes, however deep in its arguments it stands. */
export interface Parameter {
  readonly path: readonly string[]
  readonly kind: Kind
  /** The stems of its name. */
  readonly words: readonly string[]
  /** The stems of its description. */
  readonly about: ReadonlySet<string>
  /** The call is not possible without it. */
  readonly isRequired: boolean
  /** Of an optional object: what the object is not possible without. */
  readonly isPart: boolean
  readonly schema: JsonObject
  readonly choices: readonly unknown[]
  /** Of a list: what its items are. */
  readonly item?: Parameter | undefined
  /** Of a list of objects: what each item holds. */
  readonly fields?: readonly Parameter[] | undefined
}

/** More than any honest tool takes; the rest is not looked at. */
const MAX_PARAMETERS = 60
const MAX_DEPTH = 3
const MAX_CHOICES = 500

/** The values a schema asks for, nested objects unfolded. */
export function parametersOf(schema: unknown): Parameter[] {
  const root = isRecord(schema) ? schema : {}
  const found: Parameter[] = []
  collect(resolved(root, root), root, [], { isRequired: true, isPart: true }, found)
  return found
}

type Need = Pick<Parameter, 'isRequired' | 'isPart'>

function collect(object: JsonObject, root: JsonObject, path: readonly string[], need: Need, found: Parameter[]): void {
  for (const [name, raw] of propertiesOf(object)) {
    if (found.length >= MAX_PARAMETERS) return
    const schema = resolved(raw, root)
    const isOwnRequired = isRequired(object, name) && schema.default === undefined
    const own = { isRequired: need.isRequired && isOwnRequired, isPart: isOwnRequired }
    const here = [...path, name]
    if (typeOf(schema) === 'object' && here.length <= MAX_DEPTH) collect(schema, root, here, own, found)
    else found.push(parameterOf(schema, root, here, own))
  }
}

function parameterOf(schema: JsonObject, root: JsonObject, path: readonly string[], need: Need): Parameter {
  const words = nameWords(path.at(-1) ?? '').map(stem)
  const about = contentStems(typeof schema.description === 'string' ? schema.description.slice(0, 1000) : '')
  const kind = kindOf(schema, words, about)
  const choices = Array.isArray(schema.enum) ? schema.enum : Object.hasOwn(schema, 'const') ? [schema.const] : []
  const parameter = { path, kind, words, about, ...need, schema, choices: choices.slice(0, MAX_CHOICES) }
  return kind === 'list' ? { ...parameter, ...itemsOf(schema, root, path) } : parameter
}

/** An item is called what its list is called, in the singular. */
function itemsOf(schema: JsonObject, root: JsonObject, path: readonly string[]): Pick<Parameter, 'item' | 'fields'> {
  const items = resolved(schema.items, root)
  if (typeOf(items) === 'array') return {}
  if (typeOf(items) !== 'object') return { item: parameterOf(items, root, path, { isRequired: true, isPart: true }) }
  const fields: Parameter[] = []
  collect(items, root, [], { isRequired: true, isPart: true }, fields)
  return { fields: fields.filter(({ kind }) => kind !== 'list') }
}

/** The name as one says it: `order id`, `address city`. */
export function spokenName({ path }: Parameter): string {
  return path.flatMap(nameWords).join(' ')
}
