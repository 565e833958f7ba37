// What the model does next: a pure function of the request and the time.
import { SET_MODEL_RESPONSE } from '../../agent/final-answer.ts'
import { TRANSFER_TO_AGENT, transferTargets } from '../../agent/transfer.ts'
import { canonicalJson, isRecord, type JsonObject } from '../../base/json.ts'
import type { LlmRequest } from '../../tool/tool.ts'
import { answerFrom } from './answer.ts'
import { argumentsOf, fill } from './fill.ts'
import { type Heard, isFailed, listen } from './heard.ts'
import { jsonAnswer } from './json-answer.ts'
import { passageOf } from './mentions.ts'
import { type Declared, declarationsIn, declaredOf } from './parameters.ts'
import { completed } from './results.ts'
import { recordOf } from './schema.ts'
import { abilities, notUnderstood, question, smallTalk } from './talk.ts'
import { askedFor, tasksIn } from './tasks.ts'
import { ENOUGH, type Task, Toolbox, termsOf } from './tools.ts'

export interface Call {
  readonly name: string
  readonly args: JsonObject
}

export type Reply =
  | { readonly type: 'call'; readonly calls: readonly Call[] }
  | { readonly type: 'say'; readonly text: string }

const EXIT_LOOP = 'exit_loop'
const MAX_STEPS = 8
const MAX_CALLS = 20
const MAX_READ = 20_000

export function plan({ contents, config, tools: bodies }: LlmRequest, now: number): Reply {
  const declarations = new Map(declarationsIn(config.tools).map((one) => [one.name, one]))
  const final = declarations.get(SET_MODEL_RESPONSE)
  const transfer = declarations.get(TRANSFER_TO_AGENT)
  const isLoop = declarations.has(EXIT_LOOP)
  for (const name of [SET_MODEL_RESPONSE, TRANSFER_TO_AGENT, EXIT_LOOP]) declarations.delete(name)
  const named = transfer ? declaredOf(transfer).parameters.flatMap(({ choices }) => choices) : []
  const targets = transferTargets(bodies.get(TRANSFER_TO_AGENT)) ?? named.map((name) => ({ name: String(name) }))
  const agents = targets.map(declaredOf)
  const toolbox = new Toolbox([...declarations.values()].map(declaredOf), agents)
  const heard = listen(contents)
  const asking: Asking = { toolbox, agents, heard, isLoop, now, message: readable(heard.message) }
  const next = nextStep(asking, readable(config.systemInstruction ?? ''))
  if (next.type === 'call') return next
  if (isLoop && isDone(heard)) return call([{ name: EXIT_LOOP, args: {} }], heard) ?? next
  const schema = final ? final.parametersJsonSchema : config.responseJsonSchema
  if (!isRecord(schema)) return next
  const results = heard.results.filter((one) => !isFailed(one))
  const answer = jsonAnswer(schema, { results, message: asking.message, text: next.text, now })
  if (!final) return say(JSON.stringify(answer))
  return call([{ name: SET_MODEL_RESPONSE, args: recordOf(answer) }], heard) ?? next
}

interface Asking {
  readonly toolbox: Toolbox
  readonly agents: readonly Declared[]
  readonly heard: Heard
  readonly message: string
  readonly isLoop: boolean
  readonly now: number
}

function nextStep(asking: Asking, instruction: string): Reply {
  const { heard, message, toolbox, agents, now } = asking
  const { arrived, results, steps, others } = heard
  if (arrived) return say(answerFrom([arrived], message))
  const can = abilities(toolbox.tools, agents)
  const talk = results.length ? undefined : smallTalk(message, can)
  if (talk !== undefined) return say(talk)
  if (steps < MAX_STEPS) {
    const own = askedFor(message, heard.earlier.map(readable), toolbox, now)
    const agent = betterThan(own, asking)
    const handed = agent && call([{ name: TRANSFER_TO_AGENT, args: { agent_name: agent.name } }], heard)
    const tasks = own.length ? own : asInstructed(asking, instruction)
    if (handed) return handed
    if (tasks.length) return advance(tasks, asking)
  }
  const own = results.filter(({ name }) => toolbox.tools.some((tool) => tool.name === name))
  return say(answerFrom(own, message) || [...new Set(others.texts)].join(' ') || notUnderstood(can))
}

/** The beginning and the end of a message nobody would read whole. */
function readable(message: string): string {
  if (message.length <= MAX_READ) return message
  const [head, tail] = [message.slice(0, MAX_READ / 2), message.slice(-MAX_READ / 2)]
  return `${head.replace(/\S{1,100}$/, '')}\n${tail.replace(/^\S{1,100}/, '')}` // half a word is another word
}

/** The agent whose name and description fit the message better than what this one would do itself. */
function betterThan(own: readonly Task[], { message, agents, toolbox, heard, now }: Asking): Declared | undefined {
  const terms = termsOf(passageOf(message, now))
  const words = (one: Declared): number => toolbox.weigh(one, terms)
  // an agent that has had its turn sent the message on: it would only come back
  const [best] = agents.filter(({ name }) => !heard.others.names.has(name)).sort((a, b) => words(b) - words(a))
  const least = Math.max(ENOUGH, ...own.map(({ tool }) => words(tool) + 0.01))
  return best && words(best) >= least ? best : undefined
}

const goOn = /^\W*(?:please )?(?:go on|continue|proceed|start|begin|go ahead)\b|\binstruct/i

/** A message that names no tool may hold what the tool of the instruction takes; a loop goes on without. */
function asInstructed({ message, isLoop, toolbox, now }: Asking, instruction: string): Task[] {
  const passage = passageOf(message, now)
  const isGoing = isLoop || goOn.test(message)
  const tasks = tasksIn(instruction, toolbox, now).map((task) => ({
    ...task,
    passage,
    filled: fill(task.tool, passage),
  }))
  return tasks
    .filter(({ filled: { missing, recognised } }) => missing.length === 0 && (recognised > 0 || isGoing))
    .slice(0, 1)
}

/** The calls that are possible now, else the answer, else a question. */
function advance(tasks: readonly Task[], asking: Asking): Reply {
  const { results } = asking.heard
  const isGoing = !results.some(isFailed)
  const filled = tasks.map((task) => (isGoing ? completed(task, results) : task))
  const chained = isGoing && results.length ? nextInChain(tasks, asking) : []
  const possible = [...filled, ...chained].filter((task) => task.filled.missing.length === 0)
  const calls = possible.flatMap(({ tool, filled }) =>
    argumentsOf(tool, filled).map((args) => ({ name: tool.name, args })),
  )
  const blocked = isGoing ? filled.find((task) => task.filled.missing.length > 0) : undefined
  const told = [answerFrom(results, asking.message), blocked ? question(blocked.filled.missing) : '']
  return call(calls, asking.heard) ?? say(told.filter(Boolean).join(' '))
}

/** A tool that the words speak for which the tasks have left unexplained, all of whose arguments are known now. */
function nextInChain(tasks: readonly Task[], { message, heard: { results }, toolbox, now }: Asking): Task[] {
  const passage = passageOf([...new Set([...tasks.map((task) => task.passage.text), message])].join(' '), now)
  const called = new Set([...tasks.map(({ tool }) => tool.name), ...results.map(({ name }) => name)])
  const [done, others] = [true, false].map((isIn) => toolbox.tools.filter(({ name }) => called.has(name) === isIn))
  const isExplained = (term: string): boolean =>
    done?.some((tool) => toolbox.weigh(tool, new Map([[term, 1]])) > 0) ?? false
  const left = new Map([...termsOf(passage)].filter(([term]) => !isExplained(term)))
  const wanted = others?.filter((tool) => toolbox.weigh(tool, left) >= 1.2) ?? []
  const chained = wanted.map((tool) => ({ tool, passage, words: 0, filled: fill(tool, passage) }))
  return chained
    .filter(({ filled }) => filled.missing.length)
    .map((task) => completed(task, results))
    .filter(({ filled }) => filled.missing.length === 0)
    .slice(0, 1)
}

/** Those that were not made yet in this turn; undefined when none is left. */
function call(calls: readonly Call[], { results }: Heard): Reply | undefined {
  const keyOf = ({ name, args }: Call): string => `${name} ${canonicalJson(args)}`
  const made = new Set(results.map(keyOf))
  const fresh = new Map(calls.filter((one) => !made.has(keyOf(one))).map((one) => [keyOf(one), one]))
  return fresh.size ? { type: 'call', calls: [...fresh.values()].slice(0, MAX_CALLS) } : undefined
}

const say = (text: string): Reply => ({ type: 'say', text })

const doneKeys = /^(?:is)?_?(?:done|passed|approved|fits|complete|completed|finished|valid|accepted|good)$/i

/** Does the last result say that the work of a loop is done? */
function isDone({ results }: Heard): boolean {
  return Object.entries(results.at(-1)?.response ?? {}).some(([key, value]) => value === true && doneKeys.test(key))
}
