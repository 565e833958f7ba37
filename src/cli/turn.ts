import type { Writable } from 'node:stream'
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { Run } from '../runner/run.ts'
import type { Interrupts } from './interrupts.ts'
import { Renderer } from './render.ts'
import { inOneLine } from './visible.ts'

export interface TurnOptions {
  readonly output: Writable & { readonly columns?: number | undefined }
  readonly colour: boolean
  readonly interrupts: Interrupts
  /** Who needs no introduction. */
  readonly rootName: string
  /** The code of an error that is none here. */
  readonly expected?: string | undefined
}

/** Where no terminal says how wide it is. */
const PLAIN_WIDTH = 120

/**
 * Writes what happens as it happens; Ctrl-C cancels it. Gives the code of the error it ended with; undefined when it came
 * to its end, or to a pause, without one.
 */
export async function showTurn(run: Run, options: TurnOptions): Promise<string | undefined> {
  const { output, colour, interrupts, rootName, expected } = options
  const renderer = new Renderer({ rootName, width: output.columns || PLAIN_WIDTH, colour })
  let failure: string | undefined
  const forget = interrupts.listen(() => {
    forget() // once is enough; the next Ctrl-C is for whoever listens outside
    run.cancel().catch(() => {}) // why it could not be cancelled is heard from the run itself
  })
  try {
    for await (const event of run) {
      output.write(renderer.event(event))
      if (event.errorCode !== undefined && event.isolationScope === undefined) failure = event.errorCode
    }
    output.write(renderer.end())
  } catch (error) {
    const code = error instanceof ToolwrightError ? error.code : undefined
    if (code !== undefined && code === expected) return undefined
    failure = code ?? 'INTERNAL'
    output.write(`${renderer.end()}! ${inOneLine((code ? `${code}: ` : '') + messageOf(error))}\n`)
  } finally {
    forget()
  }
  return failure
}
