import type { Part } from '../content/content.ts'
import { hardWrap } from './columns.ts'
import type { Lines } from './lines.ts'
import type { Question } from './question.ts'
import type { Screen } from './screen.ts'
import { visible } from './visible.ts'

/** Asks one after another, each until it is answered. All answers, or how it ended before. */
export async function askAll(
  questions: readonly Question[],
  { answers, screen }: { readonly answers: Lines; readonly screen: Screen },
): Promise<Part[] | 'end' | 'interrupt'> {
  const parts: Part[] = []
  for (const first of questions) {
    show(first, screen)
    for (let question: Question | undefined = first; question; ) {
      const heard = await answers.read(question.prompt, question.initial)
      if (heard.type !== 'line') return heard.type
      const answer = await question.read(heard.text)
      if ('part' in answer) {
        parts.push(answer.part)
        question = undefined
      } else if ('problem' in answer) screen.write(`${visible(answer.problem)}\n`)
      else {
        question = answer.next
        show(question, screen)
      }
    }
  }
  return parts
}

/** Wrapped here: text that the terminal wraps could start a row as if the row were ours. */
function show({ text }: Question, screen: Screen): void {
  const { width, isLive } = screen
  const [first = '', ...lines] = text.split('\n').map((line) => (width ? hardWrap(line, width - 1, '      ') : line))
  screen.write([isLive ? `\n${screen.paint(['yellow', 'bold'], first)}` : first, ...lines].join('\n'))
}
