// Describes tools for matching: the words of each tool and the kinds of its parameters. Schemas are untrusted: references
// may be circular and nesting unlimited. Patterns are never executed.
import { isRecord, type JsonObject } from '../../base/json.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import type { MentionKind } from './passage.ts'
import { isContentWord, nameWords, stem, stemsOf, tokenize } from './words.ts'

/** The kind of value a parameter takes, derived from its type, format and name. */
export type ParameterKind = MentionKind | 'choice' | 'boolean' | 'place' | 'text' | 'request' | 'list' | 'unknown'

/** A parameter of a tool. */
export interface Parameter {
  /** Name in the schema. */
  readonly name: string
  /** The kind of value it takes. */
  readonly kind: ParameterKind
  /** Stems of its name. */
  readonly words: readonly string[]
  /** It is required and has no default. */
  readonly isRequired: boolean
  /** Its resolved schema. */
  readonly schema: JsonObject
  /** Values of `enum` or `const`. */
  readonly choices: readonly unknown[]
  /** The value of a required parameter that the message does not mention: the only choice, or false. */
  readonly fallback: unknown
}

/** A tool of the request, or an agent that can take over. */
export interface DeclaredTool {
  /** Name of the tool or agent. */
  readonly name: string
  /** Its description. */
  readonly description: string
  /** Its parameters. */
  readonly parameters: readonly Parameter[]
  /** Stems of its name. */
  readonly nameStems: readonly string[]
  /** How strongly each stem points to this tool. */
  readonly weights: ReadonlyMap<string, number>
}

/** Further parameters are ignored. */
const MAX_PARAMETERS = 60
const MAX_CHOICES = 500

/** Lists the function declarations of a request. */
export function listDeclarations(tools: unknown): FunctionDeclaration[] {
  const all = Array.isArray(tools) ? tools.flatMap((one) => recordOf(one).functionDeclarations) : []
  return all.filter((one): one is FunctionDeclaration => isRecord(one) && typeof one.name === 'string')
}

/** Describes a declaration for matching. */
export function toDeclaredTool(declaration: Partial<FunctionDeclaration> & { readonly name: string }): DeclaredTool {
  const { name } = declaration
  const description = toPlainText(declaration.description)
  const root = recordOf(declaration.parametersJsonSchema)
  const object = resolveSchema(root, root)
  const properties = Object.entries(recordOf(object.properties)).slice(0, MAX_PARAMETERS)
  const parameters = properties.map(([key, raw]) => toParameter(key, resolveSchema(raw, root), isRequired(object, key)))
  const weights = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const { stem } of tokenize(text).filter(isContentWord))
      weights.set(stem, Math.max(weight, weights.get(stem) ?? 0))
  }
  for (const { name, choices, schema } of parameters) {
    add(nameWords(name).join(' '), 1.4)
    add(toPlainText(schema.description), 0.6)
    for (const choice of choices.slice(0, 50)) add(nameWords(toPlainText(choice)).join(' '), 2)
  }
  add(description, 1.2)
  add(nameWords(name).join(' '), 3)
  return { name, description, parameters, nameStems: nameWords(name).map(stem), weights }
}

function toParameter(name: string, schema: JsonObject, isNeeded: boolean): Parameter {
  const words = nameWords(name).map(stem)
  const listed = Array.isArray(schema.enum) ? schema.enum : Object.hasOwn(schema, 'const') ? [schema.const] : []
  const kind = listed.length ? 'choice' : parameterKind(schema, words)
  const fallback = !isNeeded ? undefined : kind === 'boolean' ? false : listed.length === 1 ? listed[0] : undefined
  const isRequired = isNeeded && fallback === undefined && schema.default === undefined
  return { name, kind, words, isRequired, schema, choices: listed.slice(0, MAX_CHOICES), fallback }
}

const kindsByWord: ReadonlyMap<string, ParameterKind> = new Map(
  Object.entries({
    request: 'request question instruction input',
    email: 'email mail',
    url: 'url uri link website',
    path: 'path file filename folder directory',
    time: 'time hour',
    date: 'date day deadline due when birthday',
    id: 'id uuid code reference number sku account key symbol',
    place: 'city place location town country region destination origin airport station restaurant hotel venue shop',
    name: 'name person customer guest attendee recipient sender contact user author artist to from who language currency',
  }).flatMap(([kind, words]) => [...stemsOf(words)].map((word) => [word, kind as ParameterKind] as const)),
)

function parameterKind(schema: JsonObject, words: readonly string[]): ParameterKind {
  const type = schemaType(schema)
  if (type === 'boolean' || type === 'number') return type
  if (type !== 'string') return type === 'integer' ? 'number' : type === 'array' ? 'list' : 'unknown'
  if (typeof schema.format === 'string') return kindsByWord.get(stem(schema.format)) ?? 'unknown'
  const kinds = words.flatMap((word) => kindsByWord.get(word) ?? [])
  return kinds.findLast((kind) => kind !== 'name') ?? kinds[0] ?? 'text'
}

/** A schema with more references and alternatives counts as unknown. */
const MAX_HOPS = 16

/** Follows references and takes the first alternative that is not null. */
export function resolveSchema(schema: unknown, root: JsonObject): JsonObject {
  let at: JsonObject = isRecord(schema) ? schema : {}
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const { $ref, anyOf, oneOf = anyOf, ...rest } = at
    if (typeof $ref === 'string') at = { ...recordOf(resolvePointer($ref, root)), ...rest }
    else if (Array.isArray(oneOf)) at = { ...oneOf.find((one) => isRecord(one) && one.type !== 'null'), ...rest }
    else return at
  }
  return {}
}

function resolvePointer($ref: string, root: JsonObject): unknown {
  const keys = $ref.startsWith('#') ? $ref.split('/').slice(1, 20) : ['']
  return keys.reduce<unknown>((at, key) => ownValue(at, key.replaceAll('~1', '/').replaceAll('~0', '~')), root)
}

/** A string or number as text; empty for any other value. */
export const toPlainText = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, 2_000) : typeof value === 'number' ? String(value) : ''

/** The value if it is a record, else an empty record. */
export const recordOf = (value: unknown): JsonObject => (isRecord(value) ? value : {})

/** The own property of a record. */
export const ownValue = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** The type that a resolved schema names or implies. */
export function schemaType(schema: JsonObject): string | undefined {
  const { type, properties } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return type.find((one) => one !== 'null')
  return isRecord(properties) ? 'object' : undefined
}

/** The schema lists the property as required. */
export const isRequired = ({ required }: JsonObject, name: string): boolean =>
  Array.isArray(required) && required.includes(name)
