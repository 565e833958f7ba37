// What a request says: the message, what came of it so far, and what others said meanwhile.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { type Content, textOf } from '../../content/content.ts'

/** A call that was answered. */
export interface Result {
  readonly name: string
  readonly args: JsonObject
  readonly response: JsonObject
}

export function isFailed({ response }: Result): boolean {
  return response.error !== undefined && response.error !== null && response.error !== false
}

export interface Heard {
  /** What is to be done: the user's latest words, or the instruction where nobody said anything. */
  readonly message: string
  readonly isUsers: boolean
  /** What the user said before, the latest first. */
  readonly earlier: readonly string[]
  /** What the model itself called since, with the answers. */
  readonly results: readonly Result[]
  /** How often the model has spoken since. */
  readonly steps: number
  /** A result that was waited for, when the message only says that it is there. */
  readonly arrived: Result | undefined
  readonly others: Others
}

/** What other agents said and found since. */
export interface Others {
  readonly names: ReadonlySet<string>
  readonly texts: readonly string[]
  readonly results: readonly Result[]
}

const arrival = /^The result of (\S+) \((.+)\) has arrived\.$/
const nudge = /^(?:Do what your instructions say\.|Go on as instructed\.)$/
const correction = /^Your answer does not have the required form: /
const MAX_EARLIER = 5

export function listen(contents: readonly Content[], instruction: string): Heard {
  const at = contents.findLastIndex(isAsking)
  const said = textOf(contents[at])
  // what the model said itself without calling anything ended what it did before: a loop goes on from there
  const since = contents.slice(Math.max(at, contents.findLastIndex(isOwnAnswer)) + 1)
  const isUsers = at >= 0 && !nudge.test(said)
  const [, , arrivedId] = arrival.exec(said) ?? []
  return {
    message: isUsers ? said : instruction,
    isUsers,
    earlier: contents.slice(0, Math.max(at, 0)).filter(isUserWords).map(textOf).reverse().slice(0, MAX_EARLIER),
    results: resultsIn(since),
    steps: since.filter(({ role }) => role === 'model').length,
    arrived: arrivedId === undefined ? undefined : resultsIn(contents, arrivedId).at(-1),
    others: othersIn(contents.slice(isUsers ? at + 1 : 0)),
  }
}

function isAsking(content: Content): boolean {
  return content.role === 'user' && !isContext(content) && !correction.test(textOf(content))
}

function isOwnAnswer({ role, parts }: Content): boolean {
  return role === 'model' && !parts.some(({ functionCall }) => functionCall)
}

function isUserWords(content: Content): boolean {
  const text = textOf(content)
  return isAsking(content) && text !== '' && !nudge.test(text) && !arrival.test(text)
}

const isContext = ({ parts }: Content): boolean => parts[0]?.text === 'For context:'

/** Answers with the arguments of their calls. */
function resultsIn(contents: readonly Content[], onlyId?: string): Result[] {
  const calls = contents.flatMap(({ parts }) => parts.flatMap(({ functionCall }) => functionCall ?? []))
  const unanswered = [...calls]
  const found: Result[] = []
  for (const { functionResponse: answer } of contents.flatMap(({ parts }) => parts)) {
    if (!answer || (onlyId !== undefined && answer.id !== onlyId)) continue
    const at = unanswered.findIndex(({ id, name }) =>
      answer.id === undefined ? name === answer.name : id === answer.id,
    )
    const [call] = at < 0 ? [] : unanswered.splice(at, 1)
    found.push({ name: answer.name, args: asRecord(call?.args), response: asRecord(answer.response) })
  }
  return found
}

const asRecord = (value: unknown): JsonObject => (isRecord(value) ? value : {})

function othersIn(contents: readonly Content[]): Others {
  const names = new Set<string>()
  const texts: string[] = []
  const results: Result[] = []
  for (const { text = '' } of contents.filter(isContext).flatMap(({ parts }) => parts.slice(1))) {
    const [, author, how, rest = ''] = /^\[([^\]]+)\] (said|called|got from|was told):? ?([\s\S]*)$/.exec(text) ?? []
    if (author === undefined) continue
    names.add(author)
    if (how === 'said') texts.push(rest)
    const [, name, json = ''] = how === 'got from' ? (/^([^\s:]+): ([\s\S]*)$/.exec(rest) ?? []) : []
    if (name !== undefined) results.push({ name, args: {}, response: parsed(json) })
  }
  return { names, texts, results }
}

function parsed(json: string): JsonObject {
  try {
    return asRecord(JSON.parse(json))
  } catch {
    return {}
  }
}
