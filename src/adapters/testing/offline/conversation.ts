// Reads the conversation of a request by its structure: roles, calls, responses and agent names in brackets.
import type { JsonObject } from '../../../core/base/json.ts'
import { type Content, functionCallsOf, textOf } from '../../../core/content/content.ts'
import { recordOf } from './declared-tool.ts'
import { MAX_TEXT_LENGTH } from './words.ts'

/** A tool call with its response. */
export interface Result {
  /** Name of the tool. */
  readonly name: string
  /** Arguments of the call. */
  readonly args: JsonObject
  /** The function response. */
  readonly response: JsonObject
}

/** The parts of a conversation that decide the next reply. */
export interface Conversation {
  /** The latest user message. */
  readonly message: string
  /** Earlier user messages, the latest first. */
  readonly earlierMessages: readonly string[]
  /** The text of the model before the message. */
  readonly lastReply: string
  /** Calls of the model since the message, with their responses. */
  readonly results: readonly Result[]
  /** The result of a long-running call whose id the message names. */
  readonly lateResult: Result | undefined
  /** Names and texts of other agents since the message. */
  readonly otherAgents: { readonly names: ReadonlySet<string>; readonly texts: readonly string[] }
}

const MAX_EARLIER_MESSAGES = 5

/** Reads the conversation from the contents of a request. */
export function readConversation(contents: readonly Content[]): Conversation {
  const at = contents.findLastIndex(isUserMessage)
  const message = readText(contents[at])
  // a text reply without calls ended the earlier work: the next round of a loop starts after it
  const spoken = contents.findLastIndex((one) => one.role === 'model' && functionCallsOf(one).length === 0)
  const past = contents.slice(0, Math.max(at, 0))
  const answered = findResults(past).filter(({ id }) => id.length > 3)
  return {
    message,
    earlierMessages: past.filter(isUserMessage).slice(-MAX_EARLIER_MESSAGES).map(readText).reverse(),
    lastReply: readText(past.findLast(({ role }) => role === 'model')),
    results: findResults(contents.slice(Math.max(at, spoken) + 1)),
    lateResult: answered.findLast(({ id }) => message.includes(id)),
    otherAgents: findOtherAgents(contents.slice(at + 1)),
  }
}

const readText = (content: Content | undefined): string => textOf(content).slice(0, MAX_TEXT_LENGTH)

/** `[agent] ...`: a text or call of another agent, with the text after the first colon. */
const AGENT_LINE = /^\[([^\]\s]{1,128})\] [^:{\n]{1,200}(?:: ?([\s\S]*))?/
const isAgentContext = ({ parts }: Content): boolean => parts.slice(1).some(({ text = '' }) => AGENT_LINE.test(text))
const isUserMessage = (content: Content): boolean =>
  content.role === 'user' && !isAgentContext(content) && textOf(content) !== ''

function findResults(contents: readonly Content[]): (Result & { readonly id: string })[] {
  const calls = contents.flatMap(functionCallsOf)
  const answers = contents.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []))
  return answers.map(({ id, name, response }) => {
    const call = calls.find((one) => one.id === id && one.name === name)
    return { id: id ?? '', name, args: recordOf(call?.args), response: recordOf(response) }
  })
}

/** Texts of other agents. A JSON object is a tool result, not a text. */
function findOtherAgents(contents: readonly Content[]): Conversation['otherAgents'] {
  const lines = contents
    .filter(isAgentContext)
    .flatMap(({ parts }) => parts.map(({ text = '' }) => AGENT_LINE.exec(text)))
  const texts = lines.flatMap((line) => (line?.[2] && !/^\{[\s\S]*\}$/.test(line[2]) ? [line[2]] : []))
  return { names: new Set(lines.flatMap((line) => line?.[1] ?? [])), texts }
}
