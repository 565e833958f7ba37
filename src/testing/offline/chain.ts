// Another tool that the message asks for and that only became possible with the results.
import { dayOf } from './dates.ts'
import { fill } from './fill.ts'
import { type Completed, completed } from './from-results.ts'
import type { Result } from './heard.ts'
import { passageOf } from './passage.ts'
import { type Candidate, termsOf, wordsFor } from './pick.ts'
import type { Means, Task } from './understand.ts'

const ENOUGH = 1.2
const CLOSER_LOOK = 8

/** A tool that the words speak for which the tasks have left unexplained, all of whose arguments are known now. */
export function nextInChain(
  message: string,
  tasks: readonly Task[],
  results: readonly Result[],
  { tools, vocabulary, now }: Means,
): (Completed & Pick<Candidate, 'tool'>) | undefined {
  const passage = passageOf(message, dayOf(now))
  const called = new Set([...tasks.map(({ tool }) => tool.name), ...results.map(({ name }) => name)])
  const done = tools.filter(({ name }) => called.has(name))
  const unexplained = termsOf(passage, vocabulary).filter(
    ({ stem }) => !done.some((tool) => vocabulary.weigh(tool, stem) > 0),
  )
  const wanted = tools
    .filter(({ name }) => !called.has(name))
    .map((tool) => ({ tool, words: wordsFor(tool, unexplained, vocabulary) }))
    .filter(({ words }) => words >= ENOUGH)
    .sort((a, b) => b.words - a.words)
    .slice(0, CLOSER_LOOK)
  for (const { tool } of wanted) {
    const task = { tool, passage, filled: fill(tool, passage, now) }
    const { filled, used } = completed(task, results, '')
    if (filled.missing.length === 0 && used > 0) return { tool, filled, used }
  }
  return undefined
}
