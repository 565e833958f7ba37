// What a request says, told by its structure: roles, calls, responses and who is named in brackets, never by a sentence
// that the framework wrote.
import type { JsonObject } from '../../base/json.ts'
import { type Content, functionCallsOf, textOf } from '../../content/content.ts'
import { recordOf } from './declared-tool.ts'

/** A call that was answered. */
export interface Result {
  readonly name: string
  readonly args: JsonObject
  readonly response: JsonObject
}

export const isFailed = ({ response: { error } }: Result): boolean =>
  error !== undefined && error !== null && error !== false

export interface Conversation {
  /** The latest words of role `user` that are not another agent's. */
  readonly message: string
  /** What was said so before, the latest first. */
  readonly earlierMessages: readonly string[]
  /** What the model itself called since, with the answers. */
  readonly results: readonly Result[]
  /** A result that was waited for, when the message names the id of its call. */
  readonly lateResult: Result | undefined
  /** Other agents that spoke since, and what they said. */
  readonly otherAgents: { readonly names: ReadonlySet<string>; readonly texts: readonly string[] }
}

const MAX_EARLIER_MESSAGES = 5
/** More than anybody would read. */
export const MAX_TEXT_LENGTH = 20_000

export function readConversation(contents: readonly Content[]): Conversation {
  const at = contents.findLastIndex(isUserMessage)
  const message = readText(contents[at])
  // what the model said itself without calling anything ended what it did before: a loop goes on from there
  const spoken = contents.findLastIndex((one) => one.role === 'model' && functionCallsOf(one).length === 0)
  const since = contents.slice(Math.max(at, spoken) + 1)
  const past = contents.slice(0, Math.max(at, 0))
  const answered = findResults(past).filter(({ id }) => id.length > 3)
  return {
    message,
    earlierMessages: past.filter(isUserMessage).slice(-MAX_EARLIER_MESSAGES).map(readText).reverse(),
    results: findResults(since),
    lateResult: answered.findLast(({ id }) => message.includes(id)),
    otherAgents: findOtherAgents(contents.slice(at + 1)),
  }
}

const readText = (content: Content | undefined): string => textOf(content).slice(0, MAX_TEXT_LENGTH)

/** `[agent] ...`, what another agent said or did; behind the first colon stands what it said. */
const agentLine = /^\[([^\]\s]{1,128})\] [^:{\n]{1,200}(?:: ?([\s\S]*))?/
const isAgentContext = ({ parts }: Content): boolean => parts.slice(1).some(({ text = '' }) => agentLine.test(text))
const isUserMessage = (content: Content): boolean =>
  content.role === 'user' && !isAgentContext(content) && textOf(content) !== ''

/** Answers with the arguments of their calls. */
function findResults(contents: readonly Content[]): (Result & { readonly id: string })[] {
  const calls = contents.flatMap(functionCallsOf)
  const answers = contents.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []))
  return answers.map(({ id, name, response }) => {
    const call = calls.find((one) => one.id === id && one.name === name)
    return { id: id ?? '', name, args: recordOf(call?.args), response: recordOf(response) }
  })
}

/** A JSON object is what another agent found, not what it said. */
function findOtherAgents(contents: readonly Content[]): Conversation['otherAgents'] {
  const found = contents
    .filter(isAgentContext)
    .flatMap(({ parts }) => parts.map(({ text = '' }) => agentLine.exec(text) ?? []))
  const texts = found.flatMap(([, , said = '']) => (said && !/^\{[\s\S]*\}$/.test(said) ? [said] : []))
  return { names: new Set(found.flatMap(([, author]) => author ?? [])), texts }
}
