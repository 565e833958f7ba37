// What a message asks for: tools with their arguments, one task for each piece of it, and what it takes from earlier ones.
import { fill, inCapitals, missingOf } from './fill.ts'
import { passageOf } from './mentions.ts'
import type { Task, Toolbox } from './tools.ts'
import { isContent, isVerb, nameWords, speaksOf, stem } from './words.ts'

const MAX_CLAUSES = 12
const MAX_HELD = 500
/** To ask back about a tool, its words must be more than a chance hit. */
const ENOUGH_TO_ASK = 2

/** The tasks of a message; pieces that ask for nothing by themselves belong to the one before, or to the next. */
export function tasksIn(message: string, toolbox: Toolbox, now: number): Task[] {
  const isMeant = ({ filled, words }: Task): boolean => filled.missing.length === 0 || words >= ENOUGH_TO_ASK
  const taskOf = (text: string): Task | undefined => toolbox.tasks(passageOf(text, now)).find(isMeant)
  const tasks: Task[] = []
  let held = ''
  for (const clause of clausesOf(message, toolbox, now)) {
    const text = `${held.slice(-MAX_HELD)} ${clause}`.trim()
    const before = tasks.at(-1)
    const own = taskOf(text)
    const refersBack = /\b(?:it|them|that|this|these|those|one|there)\b/i.test(clause)
    if (own && (own.filled.missing.length === 0 || !before || refersBack)) {
      tasks.push(own)
      held = ''
    } else if (before) tasks[tasks.length - 1] = taskOf(`${before.passage.text} ${text}`) ?? before
    else held = text
  }
  return tasks.flatMap((task) => withSource(task, toolbox))
}

/** Cut at the end of sentences, and before a command or a question that follows "and", "then" or a comma. */
function clausesOf(message: string, { tools }: Toolbox, now: number): string[] {
  const { text, tokens, mentions } = passageOf(message, now)
  const verbs = new Set(tools.map(({ name }) => stem(nameWords(name)[0] ?? '')))
  const whole = mentions.filter(({ kind }) => kind !== 'phrase')
  const cuts = [0]
  for (const [at, { start }] of tokens.entries()) {
    if (at === 0 || cuts.length >= MAX_CLAUSES || whole.some((one) => one.start < start && start < one.end)) continue
    const between = text.slice(tokens[at - 1]?.end, start)
    let next = at
    while (/^(?:and|then|also|please|can|could|you|just)$/.test(tokens[next]?.lower ?? '')) next++
    const { lower = '', stem: first = '' } = (next > at || between.includes(',') ? tokens[next] : undefined) ?? {}
    const isQuestion = /^(?:what|what's|how|where|who|when|which|is|are|will|does|do|tell|show|give)$/.test(lower)
    if (/[.?!;]["')]*\s|\n/.test(between) || isQuestion || isVerb(first) || verbs.has(first)) cuts.push(start)
  }
  return cuts.map((start, at) => text.slice(start, cuts[at + 1]).trim()).filter(Boolean)
}

/** A task that lacks what another tool finds out is done after that one: degrees are converted once they are known. */
function withSource(task: Task, toolbox: Toolbox): Task[] {
  const { missing } = task.filled
  const isSource = ({ tool, filled }: Task): boolean =>
    tool !== task.tool &&
    filled.missing.length === 0 &&
    filled.recognised > 0 &&
    missing.every(({ words }) => [...tool.weights.keys()].some((word) => speaksOf(words, word)))
  const source = missing.length ? toolbox.tasks(task.passage).find(isSource) : undefined
  return source ? [source, task] : [task]
}

const again =
  /^\W*(?:and |please |now )*(?:do |try )?(?:it |that )?(?:once more|again|repeat(?: (?:it|that))?)(?: please)?\W*$/i
const goesOn = /^\W*(?:and|also|then|or|what about|how about|now)\b/i

/** What a message asks for, together with the ones before it, the latest first: "And in Lima?", "Once more.", "ORD-7". */
export function askedFor(message: string, earlier: readonly string[], toolbox: Toolbox, now: number): Task[] {
  const own = tasksIn(message, toolbox, now)
  const [latest, ...older] = earlier
  const isMore = goesOn.test(message)
  const isShort = message.trim().split(/\s+/).length <= 4
  if (latest === undefined || (own.length && !isMore && !isShort)) return own
  const before = askedFor(latest, older, toolbox, now)
  if (again.test(message)) return before
  const changed = before.map((task) => changedBy(message, task, now))
  const tasks = before.map((task, at) => changed[at] ?? task)
  const isAsked =
    before.some(({ filled }) => filled.missing.length) && tasks.every(({ filled }) => filled.missing.length === 0)
  const isSame = isMore && own.every(({ tool }) => before.some((task) => task.tool === tool))
  return changed.some(Boolean) && (own.length === 0 || isSame || (!isMore && isAsked)) ? tasks : own
}

/** The task with what this message says instead; undefined when it says nothing to it. */
function changedBy(message: string, task: Task, now: number): Task | undefined {
  const { tool, filled } = task
  const passage = passageOf(message, now)
  const { values, several, recognised } = fill(tool, passage)
  const words = passage.tokens.filter(isContent).length
  const isTelling = (kind: string): boolean =>
    kind === 'request' ? passage.mentions.length > 0 : recognised > 0 || goesOn.test(message)
  const own = words > 0 && words <= 8 ? [...values].filter(([{ kind }]) => isTelling(kind)) : []
  const bare = message.replace(/^\W*(?:and |in |at |to |for |from |it is |it's |the )*|[\s.!?]+$/gi, '')
  // a few words after a question are its answer
  const wanted = filled.missing.find(({ kind }) => /^(?:place|name|text|id|path)$/.test(kind))
  if (
    own.length === 0 &&
    wanted &&
    words > 0 &&
    (wanted.kind === 'id' || /\p{L}/u.test(bare)) &&
    bare.split(/\s+/).length <= 4
  )
    own.push([wanted, wanted.kind === 'place' ? inCapitals(bare) : bare])
  const all = new Map([...filled.values, ...own])
  const kept = own.some(([parameter]) => parameter === filled.several?.parameter) ? undefined : filled.several
  const changed = { ...filled, values: all, several: several ?? kept, missing: missingOf(tool, all) }
  return own.length ? { ...task, filled: changed } : undefined
}
