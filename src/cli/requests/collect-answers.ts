import type { Part } from '../../content/content.ts'
import type { LineSource } from '../input/line-source.ts'
import { escapeText } from '../screen/escape.ts'
import type { Screen } from '../screen/screen.ts'
import { hardWrap } from '../screen/text-width.ts'
import type { RequestPrompt } from './request-prompt.ts'

/**
 * Shows one prompt after another, each until it has a valid answer. Returns all answers, or how the input ended before
 * the last one.
 */
export async function collectAnswers(
  prompts: readonly RequestPrompt[],
  { answers, screen }: { readonly answers: LineSource; readonly screen: Screen },
): Promise<Part[] | 'end' | 'interrupt'> {
  const parts: Part[] = []
  for (const first of prompts) {
    show(first, screen)
    for (let prompt: RequestPrompt | undefined = first; prompt; ) {
      const result = await answers.read(prompt.label, prompt.initial)
      if (result.type !== 'line') return result.type
      const reading = await prompt.read(result.text)
      if ('part' in reading) {
        parts.push(reading.part)
        prompt = undefined
      } else if ('problem' in reading) screen.write(`${escapeText(reading.problem)}\n`)
      else {
        prompt = reading.next
        show(prompt, screen)
      }
    }
  }
  return parts
}

/** Wraps and indents the text, so that no row of tool text can look like a prompt of the command line. */
function show({ text }: RequestPrompt, screen: Screen): void {
  const { width, isLive } = screen
  const [first = '', ...lines] = text.split('\n').map((line) => (width ? hardWrap(line, width - 1, '      ') : line))
  screen.write([isLive ? `\n${screen.paint(['yellow', 'bold'], first)}` : first, ...lines].join('\n'))
}
