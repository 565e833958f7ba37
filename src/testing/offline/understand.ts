// What a message asks for: tools with their arguments, one task for each piece of it.

import { speaksOf } from './affinity.ts'
import { clausesOf } from './clauses.ts'
import { dayOf } from './dates.ts'
import type { Declared } from './declared.ts'
import type { Filled } from './fill.ts'
import { type Passage, passageOf } from './passage.ts'
import { type Candidate, candidates } from './pick.ts'
import { areNear } from './synonyms.ts'
import { isVerb } from './verbs.ts'
import type { Vocabulary } from './vocabulary.ts'
import { isContent, nameWords, stem, type Token } from './words.ts'

export interface Task {
  readonly tool: Declared
  readonly passage: Passage
  readonly filled: Filled
}

/** Tasks, and the words that asked for them. */
export interface Asked {
  readonly tasks: readonly Task[]
  readonly text: string
}

/** What tasks are made with. */
export interface Means {
  readonly tools: readonly Declared[]
  readonly vocabulary: Vocabulary
  readonly now: number
}

/** To ask back about a tool, its words must be more than a chance hit. */
const ENOUGH_TO_ASK = 2

/** How much of what asks for nothing is kept for the piece after it. */
const MAX_HELD = 500

/** The tasks of a message; pieces that ask for nothing by themselves belong to the one before, or to the next. */
export function tasksIn(message: string, means: Means): Task[] {
  const tasks: Task[] = []
  let held = ''
  for (const clause of clausesIn(message, means)) {
    const text = `${held.slice(-MAX_HELD)} ${clause}`.trim()
    const before = tasks.at(-1)
    const own = taskOf(text, means)
    if (own && (own.filled.missing.length === 0 || !before || refersBack(own.passage))) {
      tasks.push(own)
      held = ''
    } else if (before) tasks[tasks.length - 1] = taskOf(`${before.passage.text} ${text}`, means) ?? before
    else held = text
  }
  return tasks.flatMap((task) => withSource(task, means))
}

function clausesIn(message: string, { tools, now }: Means): string[] {
  const { text, tokens, mentions } = passageOf(message, dayOf(now))
  const verbs = new Set(tools.map(({ name }) => stem(nameWords(name)[0] ?? '')))
  const others = new Set(tools.flatMap(({ nameStems }) => [...nameStems]))
  const isOne = (words: ReadonlySet<string>) =>
    memo((token) => isContent(token) && [...words].some((word) => areNear(word, token.stem)))
  const ofVerbs = isOne(verbs)
  return clausesOf(text, tokens, mentions, {
    isVerb: (token) => isVerb(token.stem) || ofVerbs(token),
    isOfTool: isOne(others),
  })
}

function memo(test: (token: Token) => boolean): (token: Token) => boolean {
  const known = new Map<string, boolean>()
  return (token) => {
    const answer = known.get(token.lower) ?? test(token)
    known.set(token.lower, answer)
    return answer
  }
}

function taskOf(text: string, means: Means): Task | undefined {
  const passage = passageOf(text, dayOf(means.now))
  const best = candidates(means.tools, passage, means.vocabulary, means.now).find(isMeant)
  return best ? { tool: best.tool, passage, filled: best.filled } : undefined
}

function isMeant({ filled, words }: Candidate): boolean {
  return filled.missing.length === 0 || words >= ENOUGH_TO_ASK
}

const backwards = new Set('it them that this these those one result results there him her he she they'.split(' '))

function refersBack({ tokens }: Passage): boolean {
  return tokens.some(({ lower }) => backwards.has(lower))
}

/** A task that lacks what another tool finds out is done after that one: degrees are converted once they are known. */
function withSource(task: Task, means: Means): Task[] {
  const { missing } = task.filled
  if (missing.length === 0) return [task]
  const others = candidates(means.tools, task.passage, means.vocabulary, means.now)
  const source = others.find(
    ({ tool, filled }) =>
      tool !== task.tool &&
      filled.missing.length === 0 &&
      filled.recognised > 0 &&
      missing.every(({ words }) => [...tool.weights.keys()].some((stem) => speaksOf(words, stem))),
  )
  if (!source) return [task]
  return [{ tool: source.tool, passage: task.passage, filled: source.filled }, task]
}
