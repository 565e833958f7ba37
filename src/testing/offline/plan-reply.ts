// Decides the next reply: a pure function of the request and the time.
import { SET_MODEL_RESPONSE } from '../../agent/agents/final-answer.ts'
import { TRANSFER_TO_AGENT, transferTargets } from '../../agent/agents/transfer.ts'
import { canonicalJson, isRecord } from '../../base/json.ts'
import type { FunctionCall, Part } from '../../content/content.ts'
import type { LlmRequest } from '../../tool/tool.ts'
import { answerText } from './answer-text.ts'
import { type Conversation, isFailed, MAX_TEXT_LENGTH, readConversation } from './conversation.ts'
import { type DeclaredTool, listDeclarations, recordOf, toDeclaredTool } from './declared-tool.ts'
import { createCalls, fillArguments } from './fill-arguments.ts'
import { fillFromResults } from './fill-from-results.ts'
import { jsonAnswer } from './json-answer.ts'
import { parsePassage } from './passage.ts'
import { answerSmallTalk, askForMissing, describeAbilities, notUnderstoodText } from './small-talk.ts'
import { findRequestedTasks, findTasks, MIN_SCORE, scoreTool, type Task, type Toolbox, termsOf } from './tasks.ts'

const EXIT_LOOP = 'exit_loop'
const MAX_RESULTS = 10
const MAX_CALLS = 20

/** Returns the parts of the reply: calls, or a text. */
export function planReply({ contents, config, tools: bodies }: LlmRequest, now: number): Part[] {
  const declarations = new Map(listDeclarations(config.tools).map((one) => [one.name, one]))
  const final = declarations.get(SET_MODEL_RESPONSE)
  const isLoop = declarations.has(EXIT_LOOP)
  for (const name of [SET_MODEL_RESPONSE, TRANSFER_TO_AGENT, EXIT_LOOP]) declarations.delete(name)
  const agents = (transferTargets(bodies.get(TRANSFER_TO_AGENT)) ?? []).map(toDeclaredTool)
  const toolbox = { tools: [...declarations.values()].map(toDeclaredTool), agents, now }
  const conversation = readConversation(contents)
  const next = nextStep(conversation, toolbox, isLoop, config.systemInstruction?.slice(0, MAX_TEXT_LENGTH) ?? '')
  const [{ text } = {}] = next
  if (text === undefined) return next
  if (isLoop && isLoopDone(conversation)) return callParts([{ name: EXIT_LOOP, args: {} }], conversation) ?? next
  const schema = final ? final.parametersJsonSchema : config.responseJsonSchema
  if (!isRecord(schema)) return next
  const answer = jsonAnswer(schema, conversation, text, now)
  if (!final) return textParts(JSON.stringify(answer))
  return callParts([{ name: SET_MODEL_RESPONSE, args: recordOf(answer) }], conversation) ?? next
}

function nextStep(conversation: Conversation, toolbox: Toolbox, isLoop: boolean, instruction: string): Part[] {
  const { lateResult, message, results, otherAgents } = conversation
  if (lateResult) return textParts(answerText([lateResult], message))
  const can = describeAbilities(toolbox)
  const talk = results.length ? undefined : answerSmallTalk(message, can)
  if (talk !== undefined) return textParts(talk)
  if (results.length < MAX_RESULTS) {
    const own = findRequestedTasks(message, conversation.earlierMessages, toolbox)
    const agent = findBetterAgent(own, conversation, toolbox)
    const handed = agent && callParts([{ name: TRANSFER_TO_AGENT, args: { agent_name: agent.name } }], conversation)
    const tasks = own.length ? own : findInstructedTasks(message, toolbox, isLoop, instruction)
    if (handed) return handed
    if (tasks.length) return continueTasks(tasks, conversation, toolbox)
  }
  return textParts(answerText(results, message) || [...new Set(otherAgents.texts)].join(' ') || notUnderstoodText(can))
}

/** Finds an agent whose name and description match the message better than the own tools. */
function findBetterAgent(
  own: readonly Task[],
  { message, otherAgents }: Conversation,
  toolbox: Toolbox,
): DeclaredTool | undefined {
  const terms = termsOf(parsePassage(message, toolbox.now))
  // an agent that already transferred the message would transfer it again
  const open = toolbox.agents.filter(({ name }) => !otherAgents.names.has(name))
  const [best] = open.sort((a, b) => scoreTool(b, terms) - scoreTool(a, terms))
  const least = Math.max(MIN_SCORE, ...own.map(({ tool }) => scoreTool(tool, terms) + 0.01))
  return best && scoreTool(best, terms) >= least ? best : undefined
}

const continuePhrase = /^\W*(?:go on|continue|proceed|start|begin)\b|\binstruct/i

/** Tasks of the instruction, when the message has their arguments. A loop needs no message. */
function findInstructedTasks(message: string, toolbox: Toolbox, isLoop: boolean, instruction: string): Task[] {
  const passage = parsePassage(message, toolbox.now)
  const isGoing = isLoop || continuePhrase.test(message)
  const tasks = findTasks(instruction, toolbox).map(({ tool }) => ({
    tool,
    passage,
    filled: fillArguments(tool, passage),
  }))
  return tasks.filter(({ filled }) => !filled.missing.length && (filled.recognisedCount || isGoing)).slice(0, 1)
}

/** Returns the calls that are possible now, else the answer and a question for missing arguments. */
function continueTasks(tasks: readonly Task[], conversation: Conversation, toolbox: Toolbox): Part[] {
  const { message, results } = conversation
  if (results.some(isFailed)) return textParts(answerText(results, message))
  const filled = tasks.map((task) => fillFromResults(task, results))
  const chained = results.length ? findChainedTask(tasks, conversation, toolbox) : []
  const possible = [...filled, ...chained].filter((task) => task.filled.missing.length === 0)
  const calls = possible.flatMap(({ tool, filled }) => createCalls(tool, filled))
  const blocked = filled.find((task) => task.filled.missing.length > 0)
  const told = [answerText(results, message), blocked ? askForMissing(blocked.filled.missing) : '']
  return callParts(calls, conversation) ?? textParts(told.filter(Boolean).join(' '))
}

/** Finds a tool that matches the remaining words of the message and takes values of the results. */
function findChainedTask(tasks: readonly Task[], { message, results }: Conversation, toolbox: Toolbox): Task[] {
  const passage = parsePassage(
    [...new Set([...tasks.map((task) => task.passage.text), message])].join(' '),
    toolbox.now,
  )
  const called = new Set([...tasks.map(({ tool }) => tool.name), ...results.map(({ name }) => name)])
  const isExplained = (term: string): boolean =>
    toolbox.tools.some((tool) => called.has(tool.name) && scoreTool(tool, [term]) > 0)
  const left = termsOf(passage).filter((term) => !isExplained(term))
  return toolbox.tools
    .filter((tool) => !called.has(tool.name) && scoreTool(tool, left) >= 1.2)
    .map((tool) => ({ tool, passage, filled: fillArguments(tool, passage) }))
    .filter(({ filled }) => filled.missing.length)
    .map((task) => fillFromResults(task, results))
    .slice(0, 1)
}

/** The calls that this turn has not made yet, each once; undefined without any. */
function callParts(calls: readonly FunctionCall[], { results }: Conversation): Part[] | undefined {
  const keyOf = ({ name, args }: FunctionCall): string => `${name} ${canonicalJson(args)}`
  const made = new Set(results.map(keyOf))
  const fresh = new Map(calls.filter((one) => !made.has(keyOf(one))).map((one) => [keyOf(one), one]))
  const parts = [...fresh.values()].slice(0, MAX_CALLS).map((functionCall) => ({ functionCall }))
  return parts.length ? parts : undefined
}

const textParts = (text: string): Part[] => [{ text }]

/** Whether the last result ends the loop. */
function isLoopDone({ results }: Conversation): boolean {
  const { done, passed, approved, fits, completed } = results.at(-1)?.response ?? {}
  return [done, passed, approved, fits, completed].includes(true)
}
