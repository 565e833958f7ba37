import type { JsonObject } from '../../base/json.ts'
import { typeOf } from './schema.ts'
import { stem } from './words.ts'

/** What a parameter takes, as far as its type, its format and its name tell. */
export type Kind =
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
  | 'phone'
  | 'tag'
  | 'currency'
  | 'language'
  | 'place'
  | 'person'
  | 'name'
  | 'expression'
  | 'request'
  | 'text'
  | 'list'
  | 'unknown'

const formats: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ['date', 'date'],
  ['time', 'time'],
  ['date-time', 'datetime'],
  ['email', 'email'],
  ['uri', 'url'],
  ['url', 'url'],
  ['uuid', 'id'],
])

/** Words of names, the most telling first. */
const telling: readonly (readonly [Kind, string])[] = [
  ['request', 'request question instruction input'],
  ['phone', 'phone mobile telephone'],
  ['email', 'email mail'],
  ['url', 'url link website uri webpage'],
  ['path', 'path file filename folder directory repo repository'],
  ['currency', 'currency'],
  ['language', 'language lang locale'],
  ['expression', 'expression formula equation'],
  ['datetime', 'datetime timestamp'],
  ['time', 'time hour'],
  ['date', 'date day deadline due when birthday checkin checkout'],
  ['id', 'id code reference number sku iban account key symbol ticker'],
  ['tag', 'channel handle'],
  [
    'place',
    'city place location town country region area destination origin airport station state province where restaurant hotel venue shop store museum',
  ],
  ['name', 'name'],
  [
    'person',
    'person customer guest attendee participant recipient receiver sender contact user friend employee author artist owner assignee company patient passenger member to from who',
  ],
]

const kindOfWord: ReadonlyMap<string, Kind> = new Map(
  telling.flatMap(([kind, words]) => words.split(' ').map((word) => [stem(word), kind] as const)),
)

/** `words` are the stems of the parameter's name, `about` those of its description. */
export function kindOf(schema: JsonObject, words: readonly string[], about: ReadonlySet<string>): Kind {
  if (Array.isArray(schema.enum) || Object.hasOwn(schema, 'const')) return 'choice'
  const type = typeOf(schema)
  if (type === 'boolean') return 'boolean'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'array') return 'list'
  if (type !== 'string') return 'unknown'
  return formats.get(schema.format) ?? kindOfName(words, about)
}

/** What a name leaves open its description may tell: `to` is a city, an account, a language, ... */
const toldBy: readonly (readonly [Kind, readonly string[]])[] = (
  [
    ['email', 'email'],
    ['currency', 'currency'],
    ['language', 'language'],
    ['place', 'city airport place location station'],
    ['id', 'account'],
  ] as const
).map(([kind, words]) => [kind, words.split(' ').map(stem)])

function kindOfName(words: readonly string[], about: ReadonlySet<string>): Kind {
  const kinds = words.map((word) => kindOfWord.get(word))
  if (kinds.includes('phone')) return 'phone' // `phone_number` is no other number
  const kind = kinds.findLast((one) => one !== undefined && one !== 'person') // `currency_from` is a currency
  if (kind !== undefined) return kind
  if (!kinds.includes('person')) return 'text'
  return toldBy.find(([, told]) => told.some((word) => about.has(word)))?.[0] ?? 'person'
}
