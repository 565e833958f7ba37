// What the model does next: a pure function of the request and the time.
import { SET_MODEL_RESPONSE } from '../../agent/agents/final-answer.ts'
import { TRANSFER_TO_AGENT, transferTargets } from '../../agent/agents/transfer.ts'
import { canonicalJson, isRecord } from '../../base/json.ts'
import type { FunctionCall, Part } from '../../content/content.ts'
import type { LlmRequest } from '../../tool/tool.ts'
import { answerFrom } from './answer.ts'
import { callsOf, fill } from './fill.ts'
import { type Heard, isFailed, listen, MAX_READ } from './heard.ts'
import { jsonAnswer } from './json-answer.ts'
import { passageOf } from './mentions.ts'
import { type Declared, declarationsIn, declaredOf, recordOf } from './parameters.ts'
import { completed } from './results.ts'
import { abilities, notUnderstood, question, smallTalk } from './talk.ts'
import { askedFor, ENOUGH, type Task, type Toolbox, tasksIn, termsOf, weigh } from './tasks.ts'

const EXIT_LOOP = 'exit_loop'
const MAX_RESULTS = 10
const MAX_CALLS = 20

/** The parts of the reply: calls, or a text. */
export function plan({ contents, config, tools: bodies }: LlmRequest, now: number): Part[] {
  const declarations = new Map(declarationsIn(config.tools).map((one) => [one.name, one]))
  const final = declarations.get(SET_MODEL_RESPONSE)
  const isLoop = declarations.has(EXIT_LOOP)
  for (const name of [SET_MODEL_RESPONSE, TRANSFER_TO_AGENT, EXIT_LOOP]) declarations.delete(name)
  const agents = (transferTargets(bodies.get(TRANSFER_TO_AGENT)) ?? []).map(declaredOf)
  const toolbox = { tools: [...declarations.values()].map(declaredOf), agents, now }
  const heard = listen(contents)
  const next = nextStep(heard, toolbox, isLoop, config.systemInstruction?.slice(0, MAX_READ) ?? '')
  const [{ text } = {}] = next
  if (text === undefined) return next
  if (isLoop && isDone(heard)) return call([{ name: EXIT_LOOP, args: {} }], heard) ?? next
  const schema = final ? final.parametersJsonSchema : config.responseJsonSchema
  if (!isRecord(schema)) return next
  const answer = jsonAnswer(schema, heard, text, now)
  if (!final) return say(JSON.stringify(answer))
  return call([{ name: SET_MODEL_RESPONSE, args: recordOf(answer) }], heard) ?? next
}

function nextStep(heard: Heard, toolbox: Toolbox, isLoop: boolean, instruction: string): Part[] {
  const { arrived, message, results, others } = heard
  if (arrived) return say(answerFrom([arrived], message))
  const can = abilities(toolbox)
  const talk = results.length ? undefined : smallTalk(message, can)
  if (talk !== undefined) return say(talk)
  if (results.length < MAX_RESULTS) {
    const own = askedFor(message, heard.earlier, toolbox)
    const agent = betterThan(own, heard, toolbox)
    const handed = agent && call([{ name: TRANSFER_TO_AGENT, args: { agent_name: agent.name } }], heard)
    const tasks = own.length ? own : asInstructed(message, toolbox, isLoop, instruction)
    if (handed) return handed
    if (tasks.length) return advance(tasks, heard, toolbox)
  }
  return say(answerFrom(results, message) || [...new Set(others.texts)].join(' ') || notUnderstood(can))
}

/** The agent whose name and description fit the message better than what this one would do itself. */
function betterThan(own: readonly Task[], { message, others }: Heard, toolbox: Toolbox): Declared | undefined {
  const terms = termsOf(passageOf(message, toolbox.now))
  // an agent that has had its turn sent the message on: it would only come back
  const open = toolbox.agents.filter(({ name }) => !others.names.has(name))
  const [best] = open.sort((a, b) => weigh(b, terms) - weigh(a, terms))
  const least = Math.max(ENOUGH, ...own.map(({ tool }) => weigh(tool, terms) + 0.01))
  return best && weigh(best, terms) >= least ? best : undefined
}

const goOn = /^\W*(?:go on|continue|proceed|start|begin)\b|\binstruct/i

/** A message that names no tool may hold what the tool of the instruction takes; a loop goes on without. */
function asInstructed(message: string, toolbox: Toolbox, isLoop: boolean, instruction: string): Task[] {
  const passage = passageOf(message, toolbox.now)
  const isGoing = isLoop || goOn.test(message)
  const tasks = tasksIn(instruction, toolbox).map(({ tool }) => ({ tool, passage, filled: fill(tool, passage) }))
  return tasks.filter(({ filled }) => !filled.missing.length && (filled.recognised || isGoing)).slice(0, 1)
}

/** The calls that are possible now, else the answer, else a question. */
function advance(tasks: readonly Task[], heard: Heard, toolbox: Toolbox): Part[] {
  const { message, results } = heard
  if (results.some(isFailed)) return say(answerFrom(results, message))
  const filled = tasks.map((task) => completed(task, results))
  const chained = results.length ? nextInChain(tasks, heard, toolbox) : []
  const possible = [...filled, ...chained].filter((task) => task.filled.missing.length === 0)
  const calls = possible.flatMap(({ tool, filled }) => callsOf(tool, filled))
  const blocked = filled.find((task) => task.filled.missing.length > 0)
  const told = [answerFrom(results, message), blocked ? question(blocked.filled.missing) : '']
  return call(calls, heard) ?? say(told.filter(Boolean).join(' '))
}

/** A tool that the words speak for which the tasks have left unexplained, and that takes what the results have. */
function nextInChain(tasks: readonly Task[], { message, results }: Heard, toolbox: Toolbox): Task[] {
  const passage = passageOf([...new Set([...tasks.map((task) => task.passage.text), message])].join(' '), toolbox.now)
  const called = new Set([...tasks.map(({ tool }) => tool.name), ...results.map(({ name }) => name)])
  const isExplained = (term: string): boolean =>
    toolbox.tools.some((tool) => called.has(tool.name) && weigh(tool, [term]) > 0)
  const left = termsOf(passage).filter((term) => !isExplained(term))
  return toolbox.tools
    .filter((tool) => !called.has(tool.name) && weigh(tool, left) >= 1.2)
    .map((tool) => ({ tool, passage, filled: fill(tool, passage) }))
    .filter(({ filled }) => filled.missing.length)
    .map((task) => completed(task, results))
    .slice(0, 1)
}

/** Those that were not made yet in this turn, each once; undefined when none is left. */
function call(calls: readonly FunctionCall[], { results }: Heard): Part[] | undefined {
  const keyOf = ({ name, args }: FunctionCall): string => `${name} ${canonicalJson(args)}`
  const made = new Set(results.map(keyOf))
  const fresh = new Map(calls.filter((one) => !made.has(keyOf(one))).map((one) => [keyOf(one), one]))
  const parts = [...fresh.values()].slice(0, MAX_CALLS).map((functionCall) => ({ functionCall }))
  return parts.length ? parts : undefined
}

const say = (text: string): Part[] => [{ text }]

/** Does the last result say that the work of a loop is done? */
function isDone({ results }: Heard): boolean {
  const { done, passed, approved, fits, completed } = results.at(-1)?.response ?? {}
  return [done, passed, approved, fits, completed].includes(true)
}
