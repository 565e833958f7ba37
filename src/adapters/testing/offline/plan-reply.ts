// Decides the next reply: a pure function of the request and the time.

import { canonicalJson, isRecord, type JsonObject, setOwn } from '../../../core/base/json.ts'
import type { FunctionCall, Part } from '../../../core/content/content.ts'
import { SET_MODEL_RESPONSE } from '../../../engine/agent/agents/final-answer.ts'
import { TRANSFER_TO_AGENT, transferTargets } from '../../../engine/agent/agents/transfer.ts'
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import { answerText, describeAbilities, isFailed, SELF } from './answer-text.ts'
import { type Conversation, type Result, readConversation } from './conversation.ts'
import { type DeclaredTool, recordOf, scoreOf, toDeclaredTool } from './declared-tool.ts'
import { fillArguments, isFreeText, type PlannedCall } from './fill-arguments.ts'
import { jsonAnswer } from './json-answer.ts'
import { labelOf, mentions, stemsOf } from './words.ts'

const EXIT_LOOP = 'exit_loop'
const ASK = 'Please tell me'
const MAX_RESULTS = 10
const MAX_CALLS = 20
/** Tools of these names run only if the message says so. */
const DESTRUCTIVE = /^(?:delete|remove|cancel|clear|refund)\b/
const FOLLOWS_UP = /^\W*(?:and|what about|how about)\b/i
const REPEATS = /\b(?:again|once more)\b/i

interface Toolbox {
  readonly tools: readonly DeclaredTool[]
  readonly agents: readonly DeclaredTool[]
  readonly instruction: string
  readonly isLoop: boolean
  readonly toolWords: ReadonlySet<string>
  readonly now: number
}

/** Returns the parts of the reply: calls, or a text. */
export function planReply({ contents, config, tools: bodies }: LlmRequest, now: number): Part[] {
  const declarations = new Map(listDeclarations(config.tools).map((one) => [one.name, one]))
  const final = declarations.get(SET_MODEL_RESPONSE)
  const isLoop = declarations.has(EXIT_LOOP)
  for (const name of [SET_MODEL_RESPONSE, TRANSFER_TO_AGENT, EXIT_LOOP]) declarations.delete(name)
  const tools = [...declarations.values()].map(toDeclaredTool)
  const agents = (transferTargets(bodies.get(TRANSFER_TO_AGENT)) ?? []).map((one) => toDeclaredTool({ ...one }))
  const toolWords = new Set(tools.flatMap(({ weights }) => [...weights.keys()]))
  const conversation = readConversation(contents)
  const instruction = config.systemInstruction ?? ''
  const next = nextStep(conversation, { tools, agents, instruction, isLoop, toolWords, now })
  if (typeof next !== 'string') return next.map((functionCall) => ({ functionCall }))
  const exit = isLoop && isLoopDone(conversation) ? fresh([{ name: EXIT_LOOP, args: {} }], conversation.results) : []
  if (exit.length) return exit.map((functionCall) => ({ functionCall }))
  const schema = final ? final.parametersJsonSchema : config.responseJsonSchema
  if (!isRecord(schema)) return [{ text: next }]
  const answer = jsonAnswer(schema, conversation, { text: next, toolWords, now })
  if (!final) return [{ text: JSON.stringify(answer) }]
  const given = fresh([{ name: SET_MODEL_RESPONSE, args: recordOf(answer) }], conversation.results)
  return given.length ? given.map((functionCall) => ({ functionCall })) : [{ text: next }]
}

/** The calls to make now, or the text of the answer. */
function nextStep(conversation: Conversation, toolbox: Toolbox): FunctionCall[] | string {
  const { lateResult, message, results, otherAgents } = conversation
  if (lateResult) return answerText([lateResult])
  const can = describeAbilities(toolbox.tools, toolbox.agents)
  if (!results.length && /^\W*(?:hello|hi|hey)\b.{0,20}$/i.test(message)) return `Hello! ${can}`
  if (!results.length && /^\W*(?:thanks|thank you)\b.{0,40}$/i.test(message)) return "You're welcome!"
  if (results.length < MAX_RESULTS && !results.some(isFailed)) {
    const agent = findAgent(conversation, toolbox)
    if (agent) return [{ name: TRANSFER_TO_AGENT, args: { agent_name: agent.name } }]
    const { calls, topic } = planCalls(conversation, toolbox)
    const possible = calls.filter(({ missing }) => missing.length === 0)
    const next = fresh([...possible, ...chainedCalls(topic, results, toolbox)], results)
    if (next.length) return next
    const [open] = calls.find(({ missing }) => missing.length)?.missing ?? []
    if (open) return [answerText(results), `${ASK} the ${labelOf(open.name)}.`].filter(Boolean).join(' ')
  }
  return answerText(results) || joinTexts(otherAgents.texts) || `Sorry, I did not understand that. ${SELF} ${can}`
}

const joinTexts = (texts: readonly string[]): string => [...new Set(texts)].join(' ')

/** An agent whose name and description fit the message better than the own tools. It did not just hand the message over. */
function findAgent({ message, otherAgents }: Conversation, { agents, tools }: Toolbox): DeclaredTool | undefined {
  const words = stemsOf(message)
  const best = bestOf(
    agents.filter(({ name }) => !otherAgents.names.has(name)),
    words,
  )
  return best && scoreOf(best, words) > Math.max(0, ...tools.map((tool) => scoreOf(tool, words))) ? best : undefined
}

/** The calls that the message asks for: one for each of its clauses. `topic`: the text that chose the tools. */
function planCalls(conversation: Conversation, toolbox: Toolbox): { calls: PlannedCall[]; topic: string } {
  const { tools, toolWords, now } = toolbox
  const { message, earlier } = resolveFollowUp(conversation, tools)
  const topic = [message, ...earlier].join(' ')
  let tool = bestOf(tools, stemsOf(earlier.join(' ')))
  const calls = clausesOf(message)
    .slice(0, MAX_CALLS)
    .flatMap((clause) => {
      tool = bestOf(tools, stemsOf(clause)) ?? tool
      return tool ? fillArguments(tool, clause, { whole: topic, toolWords, now }) : []
    })
  return { calls: calls.length ? calls : instructedCalls(message, toolbox), topic }
}

/** The message, and the earlier messages that it continues, back to the first one that names a tool. */
function resolveFollowUp(
  { message, earlierMessages, lastReply }: Conversation,
  tools: readonly DeclaredTool[],
): { message: string; earlier: readonly string[] } {
  const names = (text: string): boolean => bestOf(tools, stemsOf(text)) !== undefined
  const from = earlierMessages.findIndex(names)
  const earlier = earlierMessages.slice(0, from + 1)
  if (names(message) || from < 0) return { message, earlier: [] }
  if (REPEATS.test(message)) return { message: earlier[0] ?? message, earlier: earlier.slice(1) }
  return FOLLOWS_UP.test(message) || lastReply.includes(ASK) ? { message, earlier } : { message, earlier: [] }
}

/** A quotation and the text after a colon are one clause. */
const clausesOf = (message: string): string[] =>
  /"|: /.test(message) ? [message] : message.split(/\s+(?:and|then)\s+|[.?!]\s+/i).filter((clause) => clause.trim())

/** What the framework sends when there is no message of the user. */
const isTold = (message: string): boolean => /\binstruct/i.test(message)

/** The call of the tool that the instruction names, if the message has its arguments. A loop needs no message. */
function instructedCalls(message: string, { tools, instruction, isLoop, toolWords, now }: Toolbox): PlannedCall[] {
  const tool = bestOf(tools, stemsOf(instruction))
  if (!tool || tool.parameters.some(isFreeText)) return []
  const call = fillArguments(tool, message, { whole: message, toolWords, now })
  return call.missing.length === 0 && (isLoop || isTold(message) || Object.keys(call.args).length > 0) ? [call] : []
}

/** Calls of a further tool that the topic names and whose arguments are in the results. */
function chainedCalls(topic: string, results: readonly Result[], { tools }: Toolbox): FunctionCall[] {
  const called = tools.filter(({ name }) => results.some((result) => result.name === name))
  const words = stemsOf(topic).filter((word) => !called.some(({ weights }) => weights.has(word)))
  const tool = bestOf(
    tools.filter((one) => one.parameters.length > 0 && !called.includes(one)),
    words,
  )
  if (!tool) return []
  return results.flatMap(({ response }) => {
    const args: JsonObject = {}
    const keys = Object.keys(response)
    for (const { name } of tool.parameters) {
      const key = keys.find((one) => mentions(labelOf(one), name))
      if (key !== undefined) setOwn(args, name, response[key])
    }
    const isComplete = tool.parameters.every(({ name, isRequired }) => !isRequired || Object.hasOwn(args, name))
    return isComplete && Object.keys(args).length ? [{ name: tool.name, args }] : []
  })
}

/** The tool that fits the words best; undefined if none does. */
function bestOf(tools: readonly DeclaredTool[], words: readonly string[]): DeclaredTool | undefined {
  const isAllowed = ({ name }: DeclaredTool): boolean => {
    const [verb = ''] = DESTRUCTIVE.exec(labelOf(name)) ?? []
    return verb === '' || mentions(words.join(' '), verb)
  }
  const scored = tools.filter(isAllowed).map((tool) => ({ tool, score: scoreOf(tool, words) }))
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a), { tool: undefined, score: 0 } as Scored)
  return best.tool
}

interface Scored {
  readonly tool: DeclaredTool | undefined
  readonly score: number
}

/** The calls that this turn has not made yet, each once. */
function fresh(calls: readonly FunctionCall[], results: readonly Result[]): FunctionCall[] {
  const keyOf = ({ name, args }: FunctionCall): string => `${name} ${canonicalJson(args)}`
  const made = new Set(results.map(keyOf))
  const open = new Map(calls.filter((one) => !made.has(keyOf(one))).map((one) => [keyOf(one), one]))
  return [...open.values()].slice(0, MAX_CALLS).map(({ name, args }) => ({ name, args }))
}

/** Whether the last result ends the loop. */
function isLoopDone({ results }: Conversation): boolean {
  const { done, passed, fits } = results.at(-1)?.response ?? {}
  return [done, passed, fits].includes(true)
}

/** The function declarations of a request. */
function listDeclarations(tools: unknown): { readonly name: string; readonly [key: string]: unknown }[] {
  const all = Array.isArray(tools) ? tools.flatMap((one) => recordOf(one).functionDeclarations) : []
  return all.flatMap((one) => (isRecord(one) && typeof one.name === 'string' ? [{ ...one, name: one.name }] : []))
}
