// What the model does next: a pure function of the request and the time. In the order of its work:
//   heard.ts      what was said and found so far       declared.ts   the tools, as the words that ask for them
//   intent.ts     what is wanted                       understand.ts its pieces: clauses.ts, pick.ts, fill.ts
//   fill.ts       the arguments: recognise.ts for what has a form (mentions.ts), fill-texts.ts for what has none
//   from-results.ts, chain.ts   what results add       answer.ts, json-answer.ts   what is said in the end
import { SET_MODEL_RESPONSE } from '../../agent/final-answer.ts'
import { TRANSFER_TO_AGENT } from '../../agent/transfer.ts'
import { canonicalJson, isRecord, type JsonObject } from '../../base/json.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import type { LlmRequest } from '../../tool/tool.ts'
import { answerFrom } from './answer.ts'
import { callsWith } from './arguments.ts'
import { nextInChain } from './chain.ts'
import { type Declared, declarationsOf, declaredOf } from './declared.ts'
import { completed } from './from-results.ts'
import { type Heard, isFailed, listen, type Result } from './heard.ts'
import { type Intent, intentOf, readable } from './intent.ts'
import { courtesy, introduction, question } from './introduce.ts'
import { jsonAnswer } from './json-answer.ts'
import { sourcesOf } from './json-sources.ts'
import { rosterOf } from './roster.ts'
import type { Asked, Means } from './understand.ts'
import { Vocabulary } from './vocabulary.ts'

export interface Call {
  readonly name: string
  readonly args: JsonObject
}

export type Reply =
  | { readonly type: 'call'; readonly calls: readonly Call[] }
  | { readonly type: 'say'; readonly text: string }

const EXIT_LOOP = 'exit_loop'
const frameworks = new Set([TRANSFER_TO_AGENT, SET_MODEL_RESPONSE, EXIT_LOOP])
const MAX_STEPS = 8
const MAX_CALLS = 20

export function plan({ contents, config }: LlmRequest, now: number): Reply {
  const declarations = new Map(declarationsOf(config).map((one) => [one.name, one]))
  const { agents, instruction } = rosterOf(config.systemInstruction ?? '', declarations.get(TRANSFER_TO_AGENT))
  const tools = [...declarations.values()].filter(({ name }) => !frameworks.has(name)).map(declaredOf)
  const means: Means = { tools, vocabulary: new Vocabulary([...tools, ...agents]), now }
  const heard = listen(contents, instruction)
  const next = nextStep(heard, instruction, means, agents)
  if (next.type === 'call') return next
  if (declarations.has(EXIT_LOOP) && isContent(heard)) return call([{ name: EXIT_LOOP, args: {} }], heard) ?? next
  return asStructured(next.text, heard, declarations.get(SET_MODEL_RESPONSE), config.responseJsonSchema, now) ?? next
}

function nextStep(heard: Heard, instruction: string, means: Means, agents: readonly Declared[]): Reply {
  if (heard.arrived) return say(answerFrom([heard.arrived]))
  const intent: Intent = heard.steps < MAX_STEPS ? intentOf(heard, instruction, means, agents) : { type: 'nothing' }
  switch (intent.type) {
    case 'transfer':
      return (
        call([{ name: TRANSFER_TO_AGENT, args: { agent_name: intent.agent } }], heard) ?? atALoss(heard, means, agents)
      )
    case 'tasks':
      return advance(intent, heard, means)
    case 'nothing':
      return atALoss(heard, means, agents)
  }
}

/** The calls that are possible now, else the answer, else a question. */
function advance({ tasks, text: asking }: Asked, heard: Heard, means: Means): Reply {
  const { results, others } = heard
  const text = answerFrom(results)
  const isGoing = !results.some(isFailed)
  const sources = isGoing ? [...others.results, ...results] : []
  const filled = tasks.map((task) => ({ tool: task.tool, ...completed(task, sources, text) }))
  const possible = filled.filter(({ filled }) => filled.missing.length === 0)
  const chained = isGoing && results.length ? nextInChain(asking, tasks, results, means) : undefined
  const wanted = [...possible, ...(chained ? [chained] : [])]
  const calls = wanted.flatMap(({ tool, filled }) =>
    callsWith(tool.parameters, filled.values, filled.several).map((args) => ({ name: tool.name, args })),
  )
  const next = call(calls, heard)
  if (next) return next
  const blocked = filled.find(({ filled }) => filled.missing.length > 0)
  const asked = blocked && isGoing ? question(blocked.tool, blocked.filled.missing) : ''
  return say([text, asked].filter(Boolean).join(' '))
}

/** Those that were not made yet in this turn; undefined when none is left. */
function call(calls: readonly Call[], { results }: Heard): Reply | undefined {
  const made = new Set(results.map(keyOf))
  const fresh = calls.filter((one) => {
    const isNew = !made.has(keyOf(one))
    made.add(keyOf(one))
    return isNew
  })
  return fresh.length ? { type: 'call', calls: fresh.slice(0, MAX_CALLS) } : undefined
}

const keyOf = ({ name, args }: Call | Result): string => `${name} ${canonicalJson(args)}`

function say(text: string): Reply {
  return { type: 'say', text }
}

/** Nothing to call: what was found, else what others said, else who is speaking. */
function atALoss({ message, isUsers, results, others }: Heard, { tools }: Means, agents: readonly Declared[]): Reply {
  const known = answerFrom(results.filter(({ name }) => !frameworks.has(name)))
  return say(
    known || [...new Set(others.texts)].join(' ') || (isUsers && courtesy(message)) || introduction(tools, agents),
  )
}

const contentKeys = /^(?:is)?_?(?:done|passed|approved|fits|complete|completed|finished|valid|accepted|good)$/i

/** Does the last result say that the work of a loop is done? */
function isContent({ results }: Heard): boolean {
  const { response } = results.at(-1) ?? {}
  return (
    response !== undefined && Object.entries(response).some(([key, value]) => value === true && contentKeys.test(key))
  )
}

/** The answer in the form that was asked for. */
function asStructured(
  text: string,
  heard: Heard,
  tool: FunctionDeclaration | undefined,
  schema: unknown,
  now: number,
): Reply | undefined {
  const wanted = tool ? tool.parametersJsonSchema : schema
  if (!isRecord(wanted)) return undefined
  const results = [...heard.others.results, ...heard.results].filter((one) => !isFailed(one))
  const sources = sourcesOf(wanted, { results, message: readable(heard.message), text, now })
  const answer = jsonAnswer(wanted, sources)
  if (!tool) return say(JSON.stringify(answer))
  return call([{ name: SET_MODEL_RESPONSE, args: isRecord(answer) ? answer : {} }], heard)
}
