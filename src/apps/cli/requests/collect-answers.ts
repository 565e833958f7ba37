import { escapeText } from '../../../core/base/escape.ts'
import type { Part } from '../../../core/content/content.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { LineSource } from '../input/line-source.ts'
import type { Screen } from '../screen/screen.ts'
import { hardWrap } from '../screen/text-width.ts'
import type { OtherAnswer, RequestPrompt } from './request-prompt.ts'

interface CollectOptions {
  readonly answers: LineSource
  readonly screen: Screen
  /** Was the request shown before this process began? Then lines written since then answer it. Default: no. */
  wasShown?(request: PendingRequest): boolean
}

/**
 * Shows one prompt after another, each until it has a valid answer. Returns all answers, or how the input ended before
 * the last one.
 */
export async function collectAnswers(
  prompts: readonly RequestPrompt[],
  options: CollectOptions,
): Promise<Part[] | 'end' | 'interrupt'> {
  const parts: Part[] = []
  for (const prompt of prompts) {
    if (!options.wasShown?.(prompt.request)) await options.answers.showing?.()
    show(prompt, options.screen)
    const other = await prompt.open?.()
    if (other) options.screen.write(`  ${escapeText(other.notice)}\n`)
    try {
      const answer = await readAnswer(prompt, other, options)
      if (typeof answer === 'string') return answer
      parts.push(...answer)
    } finally {
      await other?.close()
    }
  }
  return parts
}

/** Reads lines until one is a valid answer, or the other source has one. */
async function readAnswer(
  first: RequestPrompt,
  other: OtherAnswer | undefined,
  { answers, screen }: CollectOptions,
): Promise<readonly Part[] | 'end' | 'interrupt'> {
  for (let prompt = first; ; ) {
    const controller = new AbortController()
    const arrived = other?.parts.then((parts) => {
      controller.abort()
      return parts
    })
    const result = await answers.read(prompt.label, prompt.initial, controller.signal)
    if (result.type === 'aborted' && arrived) return await arrived
    if (result.type === 'interrupt') return prompt.interrupted ?? 'interrupt'
    if (result.type !== 'line') return 'end'
    const reading = await prompt.read(result.text)
    if ('parts' in reading) {
      if (!result.isEarly || reading.parts.every(isRefusal)) return reading.parts
      screen.write(EARLY)
    } else if ('problem' in reading) screen.write(`${escapeText(reading.problem)}\n`)
    else {
      prompt = reading.next
      await answers.showing?.()
      show(prompt, screen)
    }
  }
}

const EARLY = 'This line was written before the request was shown, so it does not answer it.\n'

/** A line that was written too early may still deny: then nothing runs. */
function isRefusal({ functionResponse }: Part): boolean {
  const { confirmed, declined } = functionResponse?.response ?? {}
  return confirmed === false || declined === true
}

/** Wraps and indents the text, so that no row of tool text can look like a prompt of the command line. */
function show({ text, link }: RequestPrompt, screen: Screen): void {
  const { width, isLive } = screen
  const [first = '', ...lines] = text.split('\n').map((line) => (width ? hardWrap(line, width - 1, '      ') : line))
  screen.write([isLive ? `\n${screen.paint(['yellow', 'bold'], first)}` : first, ...lines].join('\n'))
  if (link !== undefined) screen.write(`${link}\n`)
}
