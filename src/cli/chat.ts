import type { Writable } from 'node:stream'
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { Run } from '../runner/run.ts'
import type { Runner } from '../runner/runner.ts'
import type { Interrupts } from './interrupts.ts'
import { Renderer } from './render.ts'
import { inOneLine, visible } from './visible.ts'

export interface ChatOptions {
  readonly output: Writable & { readonly columns?: number | undefined }
  readonly colour: boolean
  /** Show each message before its turn, where nobody saw it being typed. */
  readonly echo?: boolean | undefined
  readonly interrupts: Interrupts
}

/** Where no terminal says how wide it is. */
const PLAIN_WIDTH = 120

/**
 * One turn for each message, all in one session, until they end. Ctrl-C cancels the running turn.
 * Answers how many turns there were, and how many of them ended with an error.
 */
export async function chat(
  runner: Runner,
  messages: AsyncIterable<string> | Iterable<string>,
  options: ChatOptions,
): Promise<{ turns: number; failed: number }> {
  const done = { turns: 0, failed: 0 }
  let sessionId: string | undefined
  for await (const line of messages) {
    const message = line.trim()
    if (message === '') continue
    if (options.echo) options.output.write(`${done.turns > 0 ? '\n' : ''}> ${visible(message)}\n`)
    const run = runner.run({ userId: 'user', sessionId, message, runConfig: { streaming: true } })
    sessionId = run.sessionId
    done.turns++
    if (!(await showTurn(run, runner.agent.name, options))) done.failed++
  }
  return done
}

/** Writes what happens as it happens; true when the run came to its end, or to a pause, without an error. */
async function showTurn(run: Run, rootName: string, options: ChatOptions): Promise<boolean> {
  const { output, colour, interrupts } = options
  const renderer = new Renderer({ rootName, width: output.columns || PLAIN_WIDTH, colour })
  let isWell = true
  const forget = interrupts.listen(() => {
    forget() // once is enough; the next Ctrl-C is for whoever listens outside
    run.cancel().catch(() => {}) // why it could not be cancelled is heard from the run itself
  })
  try {
    for await (const event of run) {
      output.write(renderer.event(event))
      if (event.errorCode !== undefined && event.isolationScope === undefined) isWell = false
    }
    output.write(renderer.end())
  } catch (error) {
    isWell = false
    const code = error instanceof ToolwrightError ? `${error.code}: ` : ''
    output.write(`${renderer.end()}! ${inOneLine(code + messageOf(error))}\n`)
  } finally {
    forget()
  }
  return isWell
}
