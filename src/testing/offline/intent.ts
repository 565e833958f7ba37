// What is wanted of this agent: tasks of its own, somebody else, or nothing it knows.
import { dayOf } from './dates.ts'
import type { Declared } from './declared.ts'
import { fill } from './fill.ts'
import { continues, followedUp } from './follow-up.ts'
import type { Heard } from './heard.ts'
import { passageOf } from './passage.ts'
import { ENOUGH, termsOf, wordsFor } from './pick.ts'
import { type Asked, type Means, type Task, tasksIn } from './understand.ts'

export type Intent =
  | ({ readonly type: 'tasks' } & Asked)
  | { readonly type: 'transfer'; readonly agent: string }
  | { readonly type: 'nothing' }

/** `agents` are those one can hand over to. */
export function intentOf(heard: Heard, instruction: string, means: Means, agents: readonly Declared[]): Intent {
  const message = readable(heard.message)
  const own = tasksIn(message, means)
  // an agent that has had its turn sent the message on: it would only come back
  const others = heard.isUsers ? agents.filter(({ name }) => !heard.others.names.has(name)) : []
  const better = betterThan(own, message, others, means)
  if (better) return { type: 'transfer', agent: better.name }
  const followed = heard.isUsers ? followedUp(message, heard.earlier.map(readable), means) : undefined
  if (followed && (own.length === 0 || continues(message, own, followed))) return { type: 'tasks', ...followed }
  if (own.length) return { type: 'tasks', tasks: own, text: message }
  const instructed = heard.isUsers ? asInstructed(message, readable(instruction), means) : undefined
  return instructed ? { type: 'tasks', ...instructed } : { type: 'nothing' }
}

const MAX_READ = 20_000

/** The beginning and the end of a message nobody would read whole. */
export function readable(message: string): string {
  if (message.length <= MAX_READ) return message
  const [head, tail] = [message.slice(0, MAX_READ / 2), message.slice(-MAX_READ / 2)]
  return `${head.replace(/\S{1,100}$/, '')}\n${tail.replace(/^\S{1,100}/, '')}` // half a word is another word
}

/** The agent whose name and description fit the message better than what this one would do itself. */
function betterThan(
  own: readonly Task[],
  message: string,
  agents: readonly Declared[],
  means: Means,
): Declared | undefined {
  if (agents.length === 0) return undefined
  const { vocabulary, now } = means
  const terms = termsOf(passageOf(message, dayOf(now)), vocabulary)
  const ownWords = Math.max(0, ...own.map(({ tool }) => wordsFor(tool, terms, vocabulary)))
  let best: { agent: Declared; words: number } | undefined
  for (const agent of agents) {
    const words = wordsFor(agent, terms, vocabulary)
    if (words >= ENOUGH && words > ownWords && words > (best?.words ?? 0)) best = { agent, words }
  }
  return best?.agent
}

/** A message that names no tool may still hold what the tool of the instruction takes. */
function asInstructed(message: string, instruction: string, { now, ...means }: Means): Asked | undefined {
  const passage = passageOf(message, dayOf(now))
  const tasks = tasksIn(instruction, { now, ...means })
    .map(({ tool }) => ({ tool, passage, filled: fill(tool, passage, now) }))
    .filter(({ filled }) => filled.missing.length === 0 && filled.recognised > 0)
  return tasks.length ? { tasks: tasks.slice(0, 1), text: message } : undefined
}
