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
import { notUnderstood, question, smallTalk } from './talk.ts'
import { askedFor, type Means, tasksIn } from './tasks.ts'
import { ENOUGH, type Task, Toolbox } from './tools.ts'

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
  const own = [...declarations.values()].filter(
    ({ name }) => ![TRANSFER_TO_AGENT, SET_MODEL_RESPONSE, EXIT_LOOP].includes(name),
  )
  const tools = own.map(declaredOf)
  const listed = transfer ? declaredOf(transfer).parameters.flatMap(({ choices }) => choices) : []
  const targets = transferTargets(bodies.get(TRANSFER_TO_AGENT)) ?? listed.map((name) => ({ name: String(name) }))
  const agents = targets.map(declaredOf)
  const means: Means = { tools, toolbox: new Toolbox(tools, agents), now }
  const heard = listen(contents)
  const instruction = readable(config.systemInstruction ?? '')
  const isLoop = declarations.has(EXIT_LOOP)
  const next = nextStep(heard, isLoop, instruction, means, agents)
  if (next.type === 'call') return next
  if (isLoop && isDone(heard)) return call([{ name: EXIT_LOOP, args: {} }], heard) ?? next
  const schema = final ? final.parametersJsonSchema : config.responseJsonSchema
  if (!isRecord(schema)) return next
  const results = [...heard.others.results, ...heard.results].filter((one) => !isFailed(one))
  const answer = jsonAnswer(schema, { results, message: readable(heard.message), text: next.text, now })
  if (!final) return say(JSON.stringify(answer))
  return call([{ name: SET_MODEL_RESPONSE, args: isRecord(answer) ? answer : {} }], heard) ?? next
}

function nextStep(
  heard: Heard,
  isLoop: boolean,
  instruction: string,
  means: Means,
  agents: readonly Declared[],
): Reply {
  const { arrived, results, steps, others } = heard
  const message = readable(heard.message)
  const talk = results.length ? undefined : smallTalk(message, means.tools, agents)
  if (arrived) return say(answerFrom([arrived], message))
  if (talk !== undefined) return say(talk)
  const own = steps < MAX_STEPS ? askedFor(message, heard.earlier.map(readable), means) : []
  // an agent that has had its turn sent the message on: it would only come back
  const agent = betterThan(own, message, agents.filter(({ name }) => !others.names.has(name)), means) // biome-ignore format: short
  const handed =
    agent && steps < MAX_STEPS && call([{ name: TRANSFER_TO_AGENT, args: { agent_name: agent.name } }], heard)
  if (handed) return handed
  const tasks = own.length || steps >= MAX_STEPS ? own : asInstructed(message, instruction, isLoop, means)
  if (tasks.length) return advance(tasks, message, heard, means)
  const known = answerFrom(results.filter(({ name }) => means.tools.some((tool) => tool.name === name)), message) // biome-ignore format: short
  return say(known || [...new Set(others.texts)].join(' ') || notUnderstood(means.tools, agents))
}

/** The beginning and the end of a message nobody would read whole. */
function readable(message: string): string {
  if (message.length <= MAX_READ) return message
  const [head, tail] = [message.slice(0, MAX_READ / 2), message.slice(-MAX_READ / 2)]
  return `${head.replace(/\S{1,100}$/, '')}\n${tail.replace(/^\S{1,100}/, '')}` // half a word is another word
}

/** The agent whose name and description fit the message better than what this one would do itself. */
function betterThan(
  own: readonly Task[],
  message: string,
  agents: readonly Declared[],
  { toolbox, now }: Means,
): Declared | undefined {
  const terms = toolbox.termsOf(passageOf(message, now))
  const words = (one: Declared): number => toolbox.weigh(one, terms)
  const [best] = agents.toSorted((a, b) => words(b) - words(a))
  const least = Math.max(ENOUGH, ...own.map(({ tool }) => words(tool) + 0.01))
  return best && words(best) >= least ? best : undefined
}

const goOn = /^\W*(?:please )?(?:go on|continue|proceed|start|begin|go ahead)\b|\binstruct/i

/** A message that names no tool may hold what the tool of the instruction takes; a loop goes on without. */
function asInstructed(message: string, instruction: string, isLoop: boolean, means: Means): Task[] {
  const passage = passageOf(message, means.now)
  const isGoing = isLoop || goOn.test(message)
  const tasks = tasksIn(instruction, means).map((task) => ({ ...task, passage, filled: fill(task.tool, passage) }))
  const isPossible = ({ filled: { missing, recognised } }: Task): boolean =>
    missing.length === 0 && (recognised > 0 || isGoing)
  return tasks.filter(isPossible).slice(0, 1)
}

/** The calls that are possible now, else the answer, else a question. */
function advance(tasks: readonly Task[], message: string, heard: Heard, means: Means): Reply {
  const { results, others } = heard
  const isGoing = !results.some(isFailed)
  const sources = isGoing ? [...others.results, ...results] : []
  const filled = tasks.map((task) => ({ ...task, ...completed(task, sources) }))
  const chained = isGoing && results.length ? nextInChain(tasks, message, heard, means) : []
  const possible = [...filled.filter((task) => task.filled.missing.length === 0), ...chained]
  const next = call(possible.flatMap(({ tool, filled }) => argumentsOf(tool, filled).map((args) => ({ name: tool.name, args }))), heard) // biome-ignore format: short
  if (next) return next
  const blocked = isGoing ? filled.find((task) => task.filled.missing.length > 0) : undefined
  return say([answerFrom(results, message), blocked ? question(blocked.filled.missing) : ''].filter(Boolean).join(' '))
}

/** A tool that the words speak for which the tasks have left unexplained, all of whose arguments are known now. */
function nextInChain(
  tasks: readonly Task[],
  message: string,
  { results }: Heard,
  { tools, toolbox, now }: Means,
): Task[] {
  const texts = [...tasks.map(({ passage }) => passage.text), message]
  const passage = passageOf([...new Set(texts)].join(' '), now)
  const called = new Set([...tasks.map(({ tool }) => tool.name), ...results.map(({ name }) => name)])
  const terms = [...toolbox.termsOf(passage)]
  const isExplained = (term: string): boolean =>
    tools.some((tool) => called.has(tool.name) && toolbox.weigh(tool, new Map([[term, 1]])) > 0)
  const left = new Map(terms.filter(([term]) => !isExplained(term)))
  return tools
    .filter((tool) => !called.has(tool.name) && toolbox.weigh(tool, left) >= 1.2)
    .map((tool) => {
      const task = { tool, passage, words: 0, filled: fill(tool, passage) }
      return { ...task, ...completed(task, results) }
    })
    .filter(({ filled, isFed }) => isFed && filled.missing.length === 0)
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
