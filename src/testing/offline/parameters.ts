// Tools as the words one asks for them with, and the values each takes.
import { isRecord, type JsonObject } from '../../base/json.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import { isRequired, propertiesOf, resolved, typeOf } from './schema.ts'
import { contentStems, isVerb, nameWords, stem, stemsOf } from './words.ts'

/** What a parameter takes, as far as its type, its format and its name tell. */
export type Kind =
  | (
      | 'choice'
      | 'boolean'
      | 'number'
      | 'date'
      | 'time'
      | 'datetime'
      | 'email'
      | 'url'
      | 'path'
      | 'id'
      | 'place'
      | 'name'
    )
  | ('text' | 'request' | 'list' | 'unknown')

export interface Parameter {
  readonly name: string
  readonly kind: Kind
  /** The stems of its name. */
  readonly words: readonly string[]
  /** The stems of its description. */
  readonly about: ReadonlySet<string>
  readonly isRequired: boolean
  readonly schema: JsonObject
  readonly choices: readonly unknown[]
  /** Of a list: what its items are. */
  readonly item?: Parameter | undefined
}

/** A tool of the request, or an agent one can hand over to. */
export interface Declared {
  readonly name: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  /** The stems of its name. */
  readonly nameStems: readonly string[]
  /** How much each stem speaks for it. */
  readonly weights: ReadonlyMap<string, number>
}

/** More than any honest tool takes; the rest is not looked at. */
const MAX_PARAMETERS = 60
const MAX_CHOICES = 500

/** The declarations of a request, each name once. */
export function declarationsIn(tools: unknown): FunctionDeclaration[] {
  const entries = Array.isArray(tools) ? tools.filter(isRecord) : []
  const all = entries.flatMap(({ functionDeclarations: some }) => (Array.isArray(some) ? some : []))
  const found = all.filter((one): one is FunctionDeclaration => isRecord(one) && typeof one.name === 'string')
  return [...new Map(found.map((one) => [one.name, one])).values()]
}

export function declaredOf(declaration: Partial<FunctionDeclaration> & { readonly name: string }): Declared {
  const description = typeof declaration.description === 'string' ? declaration.description.slice(0, 2_000) : ''
  const parameters = parametersOf(declaration.parametersJsonSchema)
  const weights = new Map<string, number>()
  const add = (stems: Iterable<string>, weight: number): void => {
    for (const one of stems) if ((weights.get(one) ?? 0) < weight) weights.set(one, weight)
  }
  for (const { words, about, choices } of parameters) {
    add(about, 0.6)
    add(words, 1.4)
    for (const choice of choices.slice(0, 50)) add(contentStems(nameWords(String(choice)).join(' ')), 2)
  }
  for (const one of contentStems(description)) add([one], isVerb(one) ? 0.6 : 1.2)
  const nameStems = [...contentStems(nameWords(declaration.name).join(' '))]
  for (const one of nameStems) add([one], nameStems.length > 1 && isVerb(one) ? 1.5 : 3) // `order` of `find_order` tells
  return { name: declaration.name, description, parameters, nameStems, weights }
}

function parametersOf(schema: unknown): Parameter[] {
  const root = isRecord(schema) ? schema : {}
  const object = resolved(root, root)
  return propertiesOf(object)
    .slice(0, MAX_PARAMETERS)
    .map(([name, raw]) => {
      const own = resolved(raw, root)
      return parameterOf(name, own, root, isRequired(object, name) && own.default === undefined)
    })
}

function parameterOf(name: string, schema: JsonObject, root: JsonObject, isRequired: boolean): Parameter {
  const words = nameWords(name).map(stem)
  const about = contentStems(typeof schema.description === 'string' ? schema.description.slice(0, 1_000) : '')
  const listed = Array.isArray(schema.enum) ? schema.enum : Object.hasOwn(schema, 'const') ? [schema.const] : []
  const kind = kindOf(schema, words, about)
  const parameter = { name, kind, words, about, isRequired, schema, choices: listed.slice(0, MAX_CHOICES) }
  const items = kind === 'list' ? resolved(schema.items, root) : {}
  // an item is called what its list is called, in the singular
  return ['string', 'number', 'integer'].includes(typeOf(items) ?? '')
    ? { ...parameter, item: parameterOf(name, items, {}, true) }
    : parameter
}

const kindOfWord: ReadonlyMap<string, Kind> = new Map(
  Object.entries({
    request: 'request question instruction input',
    email: 'email mail',
    url: 'url uri link website',
    path: 'path file filename folder directory repo repository',
    datetime: 'datetime timestamp',
    time: 'time hour',
    date: 'date day deadline due when birthday',
    id: 'id uuid code reference number sku account key symbol',
    place:
      'city place location town country region destination origin airport station state restaurant hotel venue shop',
    name: 'name person customer guest attendee recipient sender contact user author artist owner to from who language currency',
  }).flatMap(([kind, words]) => [...stemsOf(words)].map((word) => [word, kind as Kind] as const)),
)
const formats = /^(?:date|time|date-time|email|uri|url|uuid)$/

function kindOf(schema: JsonObject, words: readonly string[], about: ReadonlySet<string>): Kind {
  if (Array.isArray(schema.enum) || Object.hasOwn(schema, 'const')) return 'choice'
  const type = typeOf(schema)
  if (type === 'boolean' || type === 'number') return type
  if (type === 'integer') return 'number'
  if (type === 'array') return 'list'
  if (type !== 'string') return 'unknown'
  const { format } = schema
  if (typeof format === 'string' && formats.test(format)) return kindOfWord.get(stem(format)) ?? 'datetime'
  const kinds = words.flatMap((word) => kindOfWord.get(word) ?? [])
  // what `to` leaves open its description may tell: a city, an account, ...
  const told = [...about].map((word) => kindOfWord.get(word)).find((kind) => kind === 'place' || kind === 'id')
  return kinds.findLast((kind) => kind !== 'name') ?? (kinds.length ? (told ?? 'name') : 'text')
}
