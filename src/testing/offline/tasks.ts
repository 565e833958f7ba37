// What a message asks for: tools with their arguments, one task for each piece of it, and what it takes from earlier ones.
import { fill, inCapitals, missingOf } from './fill.ts'
import { passageOf } from './mentions.ts'
import type { Declared } from './parameters.ts'
import type { Task, Toolbox } from './tools.ts'
import { isContent, isVerb, nameWords, speaksOf, stem } from './words.ts'

/** What tasks are made with. */
export interface Means {
  readonly tools: readonly Declared[]
  readonly toolbox: Toolbox
  readonly now: number
}

const MAX_CLAUSES = 12
const MAX_HELD = 500
/** To ask back about a tool, its words must be more than a chance hit. */
const ENOUGH_TO_ASK = 2
const backwards = /^(?:it|them|that|this|these|those|one|result|results|there|him|her)$/

/** The tasks of a message; pieces that ask for nothing by themselves belong to the one before, or to the next. */
export function tasksIn(message: string, means: Means): Task[] {
  const tasks: Task[] = []
  let held = ''
  for (const clause of clausesOf(message, means)) {
    const text = `${held.slice(-MAX_HELD)} ${clause}`.trim()
    const before = tasks.at(-1)
    const own = taskOf(text, means)
    const refersBack = own?.passage.tokens.some(({ lower }) => backwards.test(lower))
    if (own && (own.filled.missing.length === 0 || !before || refersBack)) {
      tasks.push(own)
      held = ''
    } else if (before) tasks[tasks.length - 1] = taskOf(`${before.passage.text} ${text}`, means) ?? before
    else held = text
  }
  return tasks.flatMap((task) => withSource(task, means))
}

/** Cut at the end of sentences, and before a command or a question that follows "and", "then" or a comma. */
function clausesOf(message: string, { tools, now }: Means): string[] {
  const { text, tokens, mentions } = passageOf(message, now)
  const verbs = new Set(tools.map(({ name }) => stem(nameWords(name)[0] ?? '')))
  const isInside = (at: number): boolean =>
    mentions.some(({ kind, start, end }) => kind !== 'phrase' && start < at && at < end)
  const cuts = [0]
  for (const [at, token] of tokens.entries()) {
    const between = text.slice(tokens[at - 1]?.end ?? 0, token.start)
    if (at === 0 || cuts.length >= MAX_CLAUSES || isInside(token.start)) continue
    let next = at
    while (/^(?:and|then|also|plus|please|can|could|you|just)$/.test(tokens[next]?.lower ?? '')) next++
    const { lower = '', stem: first = '' } = (next > at || between.includes(',') ? tokens[next] : undefined) ?? {}
    const isQuestion = /^(?:what|what's|how|where|who|when|which|is|are|will|does|do|tell|show|give)$/.test(lower)
    const isCommand =
      isVerb(first) ||
      verbs.has(first) ||
      (first !== '' && /^(?:it|them|me|the)$/.test(tokens[next + 1]?.lower ?? '') && speaksOf(verbs, first))
    if (/[.?!;]["')]*\s|\n/.test(between) || isQuestion || isCommand) cuts.push(token.start)
  }
  return cuts.map((start, at) => text.slice(start, cuts[at + 1]).trim()).filter(Boolean)
}

function taskOf(text: string, { toolbox, now }: Means): Task | undefined {
  return toolbox
    .tasks(passageOf(text, now))
    .find(({ filled, words }) => filled.missing.length === 0 || words >= ENOUGH_TO_ASK)
}

/** A task that lacks what another tool finds out is done after that one: degrees are converted once they are known. */
function withSource(task: Task, { toolbox }: Means): Task[] {
  const { missing } = task.filled
  const isSource = ({ tool, filled }: Task): boolean =>
    tool !== task.tool &&
    filled.missing.length === 0 &&
    filled.recognised > 0 &&
    missing.every(({ words }) => words.some((word) => speaksOf(tool.weights.keys(), word)))
  const source = missing.length ? toolbox.tasks(task.passage).find(isSource) : undefined
  return source ? [source, task] : [task]
}

const again =
  /^\W*(?:and |please |now )*(?:do |try |say |run )?(?:it |that )?(?:once more|again|repeat(?: (?:it|that))?)(?: please)?\W*$/i
const goesOn = /^\W*(?:and|also|then|or|what about|how about|now)\b/i
const answerable = new Set(['place', 'name', 'text', 'id', 'path'])

/** What a message asks for, together with the ones before it, the latest first: "And in Lima?", "Once more.", "ORD-7". */
export function askedFor(message: string, earlier: readonly string[], means: Means): Task[] {
  const own = tasksIn(message, means)
  const [latest, ...older] = earlier
  const isShort = message.trim().split(/\s+/).length <= 4
  if (latest === undefined || (own.length && !goesOn.test(message) && !isShort)) return own
  const before = askedFor(latest, older, means)
  if (again.test(message)) return before
  const changed = before.map((task) => changedBy(message, task, means))
  if (changed.every((task) => task === undefined)) return own
  const tasks = before.map((task, at) => changed[at] ?? task)
  if (own.length === 0) return tasks
  const isAnswer =
    before.some(({ filled }) => filled.missing.length) && tasks.every(({ filled }) => filled.missing.length === 0)
  return goesOn.test(message)
    ? own.every(({ tool }) => before.some((task) => task.tool === tool))
      ? tasks
      : own
    : isAnswer
      ? tasks
      : own
}

/** The task with what this message says instead; undefined when it says nothing to it. */
function changedBy(message: string, task: Task, { now }: Means): Task | undefined {
  const { tool, filled } = task
  const passage = passageOf(message, now)
  const { values, several, recognised } = fill(tool, passage)
  const bare = message.replace(/^\W*(?:and |in |at |to |for |from |it is |it's |the )*|[\s.!?]+$/gi, '')
  const words = passage.tokens.filter(isContent).length
  const wanted = filled.missing.find(({ kind }) => answerable.has(kind)) // a few words after a question are its answer
  const isTelling = (recognised > 0 || goesOn.test(message)) && words <= 8
  const own = [...values].filter(([{ kind }]) => isTelling && (kind !== 'request' || passage.mentions.length > 0))
  const said =
    own.length || !wanted || !words || bare.split(/\s+/).length > 4
      ? own
      : [[wanted, wanted.kind === 'place' ? inCapitals(bare) : bare] as const]
  const all = new Map([...filled.values, ...said])
  return said.length
    ? { ...task, filled: { ...filled, values: all, several, missing: missingOf(tool, all) } }
    : undefined
}
