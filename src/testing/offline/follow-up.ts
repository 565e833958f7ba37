// Messages that are only understood together with what was said before: "And in Lima?", "Once more.", "ORD-7".
import { missingOf } from './arguments.ts'
import { capitalised } from './convert.ts'
import { dayOf } from './dates.ts'
import { fill } from './fill.ts'
import type { Parameter } from './parameters.ts'
import { type Passage, passageOf } from './passage.ts'
import { type Asked, type Means, type Task, tasksIn } from './understand.ts'
import { isContent } from './words.ts'

const again =
  /^\W*(?:and |please |now )*(?:do |try |say |run |ask )?(?:it |that |this )?(?:once more|(?:one|another) more time|again|repeat(?: (?:it|that|this))?)(?: please)?\W*$/i
const goesOn = /^\W*(?:and|also|then|or|what about|how about|now)\b/i
const MAX_WORDS = 8
const MAX_ANSWER = 4

export interface FollowedUp extends Asked {
  /** Something was asked back. */
  readonly wasIncomplete: boolean
}

/** What a message asks for together with the ones before it, the latest first. */
export function followedUp(message: string, earlier: readonly string[], means: Means): FollowedUp | undefined {
  const [latest, ...older] = earlier
  if (latest === undefined) return undefined
  const own = tasksIn(latest, means)
  const before: Asked | undefined = own.length ? { tasks: own, text: latest } : followedUp(latest, older, means)
  if (!before) return undefined
  const wasIncomplete = before.tasks.some(({ filled }) => filled.missing.length > 0)
  if (again.test(message)) return { ...before, wasIncomplete }
  const passage = passageOf(message, dayOf(means.now))
  if (passage.tokens.filter(isContent).length > MAX_WORDS) return undefined
  const changed = before.tasks.map((task) => changedBy(passage, task, means.now))
  if (changed.every((task) => task === undefined)) return undefined
  const tasks = before.tasks.map((task, at) => changed[at] ?? task)
  return { tasks, text: `${before.text} ${message}`, wasIncomplete }
}

/** Is a message that could stand by itself meant as more of the same, or as the answer to what was asked back? */
export function continues(message: string, own: readonly Task[], followed: FollowedUp): boolean {
  if (goesOn.test(message)) return own.every(({ tool }) => followed.tasks.some((task) => task.tool === tool))
  const isAnswer = followed.wasIncomplete && followed.tasks.every(({ filled }) => filled.missing.length === 0)
  return isAnswer && message.trim().split(/\s+/).length <= MAX_ANSWER
}

/** The task with what this passage says instead; undefined when it says nothing to it. */
function changedBy(passage: Passage, task: Task, now: number): Task | undefined {
  const { tool, filled } = task
  const { values: found, several, recognised } = fill(tool, passage, now)
  const isTelling = recognised > 0 || goesOn.test(passage.text)
  const own = [...found].filter(([{ kind }]) => isTelling && (kind !== 'request' || hasSomething(passage)))
  const said = own.length ? own : answering(passage, filled.missing)
  if (said.length === 0) return undefined
  const values = new Map([...filled.values, ...said])
  return { ...task, filled: { ...filled, values, several, missing: missingOf(tool.parameters, values) } }
}

const hasSomething = ({ mentions }: Passage): boolean => mentions.some(({ kind }) => kind !== 'phrase')

const answerable = new Set(['place', 'person', 'name', 'text', 'id', 'tag', 'language', 'path', 'phone'])

/** A few words after a question are its answer. */
function answering({ text, tokens }: Passage, missing: readonly Parameter[]): [Parameter, unknown][] {
  const [wanted] = missing.filter(({ kind }) => answerable.has(kind))
  const bare = text.replace(/^\W*(?:and |in |at |to |for |from |it is |it's |the )*|[\s.!?]+$/gi, '')
  if (!wanted || bare === '' || !tokens.some(isContent) || bare.split(/\s+/).length > MAX_ANSWER) return []
  return [[wanted, wanted.kind === 'place' ? capitalised(bare) : bare]]
}
