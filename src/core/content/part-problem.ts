// What is wrong with a part from outside. Once recorded, a part that no provider accepts would fail every later request.
import { isRecord, type JsonObject } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'

/** Which parts are accepted. */
interface PartRules {
  /** Members that no part has: a provider or a client may be newer than this version. Default `refuse`. */
  readonly unknownMembers?: 'accept' | 'refuse'
}

/** Checks a value; returns what it must be, or undefined if it is right. */
type Check = (value: unknown, rules: PartRules) => Problem | undefined

/** What is wrong: at a member, such as `inlineData.data`. */
interface Problem {
  /** The member. Empty: the part itself. */
  readonly at: string
  /** Completes "X must ...". */
  readonly must: string
}

/**
 * What is wrong with a part, as the end of a sentence: ` must have a text, …`, or `.inlineData.data must be a string, got a number.`
 * Undefined if the part is valid.
 */
export function partProblem(part: unknown, rules: PartRules = {}): string | undefined {
  const problem = checkPart(part, rules)
  return problem && `${problem.at} must ${problem.must}.`
}

function checkPart(part: unknown, rules: PartRules): Problem | undefined {
  if (!isRecord(part)) return { at: '', must: `be an object, got ${kindOf(part)}` }
  const given = Object.keys(part).filter((name) => part[name] !== undefined)
  for (const name of given) {
    const check = DATA.get(name) ?? ATTRIBUTES.get(name)
    if (!check && rules.unknownMembers === 'accept') continue
    if (!check) return { at: '', must: `not have the member "${name.slice(0, 100)}", which no part has` }
    const problem = check(part[name], rules)
    if (problem) return { ...problem, at: `.${name}${problem.at}` }
  }
  const data = given.filter((name) => DATA.has(name))
  if (rules.unknownMembers === 'accept' || data.length === 1) return undefined
  const names = [...DATA.keys()].join(', ')
  return { at: '', must: data.length === 0 ? `have one of ${names}` : `have one of ${data.join(' and ')}, not both` }
}

const be =
  (type: 'string' | 'boolean'): Check =>
  (value) =>
    typeof value === type ? undefined : { at: '', must: `be a ${type}, got ${kindOf(value)}` }

const text = be('string')
const filledText: Check = (value, rules) =>
  text(value, rules) ?? (value === '' ? { at: '', must: 'not be empty' } : undefined)
const anything: Check = () => undefined
const object: Check = (value) => (isRecord(value) ? undefined : { at: '', must: `be an object, got ${kindOf(value)}` })
const parts: Check = (value, rules) => {
  if (!Array.isArray(value)) return { at: '', must: `be a list of parts, got ${kindOf(value)}` }
  for (const [at, part] of value.entries()) {
    const problem = checkPart(part, rules)
    if (problem) return { ...problem, at: `.${at}${problem.at}` }
  }
  return undefined
}

interface Members {
  readonly required?: { readonly [name: string]: Check }
  readonly optional?: { readonly [name: string]: Check }
}

function members({ required = {}, optional = {} }: Members): Check {
  const checks = [
    ...Object.entries(required).map(([name, check]) => ({ name, check, isRequired: true })),
    ...Object.entries(optional).map(([name, check]) => ({ name, check, isRequired: false })),
  ]
  return (value, rules) => {
    if (!isRecord(value)) return object(value, rules)
    for (const { name, check, isRequired } of checks) {
      const member = (value as JsonObject)[name]
      if (member === undefined && !isRequired) continue
      const problem = check(member, rules)
      if (problem) return { ...problem, at: `.${name}${problem.at}` }
    }
    return undefined
  }
}

/** Members that hold the content. A part has one of them. */
const DATA: ReadonlyMap<string, Check> = new Map([
  ['text', text],
  ['inlineData', members({ required: { data: text }, optional: { mimeType: text, displayName: text } })],
  ['fileData', members({ required: { fileUri: filledText }, optional: { mimeType: text, displayName: text } })],
  ['functionCall', members({ required: { name: text }, optional: { id: text, args: object } })],
  [
    'functionResponse',
    members({
      optional: { id: text, name: text, response: anything, willContinue: be('boolean'), scheduling: text, parts },
    }),
  ],
  ['executableCode', members({ required: { language: text, code: text }, optional: { id: text } })],
  ['codeExecutionResult', members({ required: { outcome: text }, optional: { id: text, output: text } })],
])

/** Members that describe the content. */
const ATTRIBUTES: ReadonlyMap<string, Check> = new Map([
  ['thought', be('boolean')],
  ['thoughtSignature', text],
  ['videoMetadata', object],
  ['partMetadata', object],
  ['mediaResolution', object],
])

/** Is it base64 or its URL-safe form? Providers decode it, and refuse the whole request if they cannot. */
export function isBase64(data: string): boolean {
  return /^[\w+/-]*={0,2}$/.test(data)
}
