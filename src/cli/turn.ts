import { messageOf, ToolwrightError } from '../error/error.ts'
import type { Run } from '../runner/run/run-handle.ts'
import type { Interrupts } from './interrupts.ts'
import { Renderer } from './render.ts'
import type { Screen } from './screen.ts'
import type { Totals } from './totals.ts'
import { inOneLine } from './visible.ts'

export interface TurnOptions {
  readonly screen: Screen
  readonly interrupts: Interrupts
  /** The agent that is not introduced by its name. */
  readonly rootName: string
  /** Results are shown whole. */
  readonly verbose?: boolean | undefined
  /** Gets what was cut, whole. */
  readonly onCut?: ((text: string) => void) | undefined
  /** Tokens and time are added to it. */
  readonly totals: Totals
  /** The code of an error that is none here. */
  readonly expected?: string | undefined
}

/**
 * Writes what happens as it happens; Ctrl+C cancels it. Gives the code of the error it ended with; undefined when it came
 * to its end, or to a pause, without one.
 */
export async function showTurn(run: Run, options: TurnOptions): Promise<string | undefined> {
  const { screen, interrupts, expected, totals } = options
  const { width, colour, isLive } = screen
  const renderer = new Renderer({ ...options, width, colour, isLive })
  const startedAt = Date.now()
  let failure: string | undefined
  let isCancelled = false
  const forget = interrupts.listen(() => {
    forget() // the next Ctrl+C is for the listener before this one: it leaves
    isCancelled = true
    screen.status('Cancelling, Ctrl+C again leaves', startedAt)
    run.cancel().catch(() => {}) // the run itself says why it could not be cancelled
  })
  try {
    screen.status(renderer.status, startedAt)
    for await (const event of run) {
      screen.write(renderer.event(event))
      totals.add(event)
      if (!isCancelled) screen.status(renderer.status, startedAt)
      if (event.errorCode !== undefined && event.isolationScope === undefined) failure = event.errorCode
    }
    screen.write(renderer.end())
  } catch (error) {
    const code = error instanceof ToolwrightError ? error.code : undefined
    if (code !== undefined && code === expected) return undefined
    failure = code ?? 'INTERNAL'
    const message = inOneLine(`! ${code ? `${code}: ` : ''}${messageOf(error)}`)
    screen.write(`${renderer.end()}${screen.paint(['red'], message)}\n`)
  } finally {
    forget()
    screen.status(undefined)
    totals.addTime(Date.now() - startedAt)
  }
  return failure
}
