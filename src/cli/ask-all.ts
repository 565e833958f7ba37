import type { Writable } from 'node:stream'
import type { Part } from '../content/content.ts'
import type { Lines } from './lines.ts'
import type { Question } from './question.ts'
import { visible } from './visible.ts'

/** Asks one after another, each until it is answered. All answers, or how it ended before. */
export async function askAll(
  questions: readonly Question[],
  { answers, output }: { readonly answers: Lines; readonly output: Writable },
): Promise<Part[] | 'end' | 'interrupt'> {
  const parts: Part[] = []
  for (const question of questions) {
    output.write(question.text)
    for (let isAnswered = false; !isAnswered; ) {
      const heard = await answers.read(question.prompt)
      if (heard.type !== 'line') return heard.type
      const answer = await question.read(heard.text)
      if ('problem' in answer) output.write(`${visible(answer.problem)}\n`)
      else isAnswered = parts.push(answer.part) > 0
    }
  }
  return parts
}
