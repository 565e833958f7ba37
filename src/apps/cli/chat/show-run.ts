import { escapeLine } from '../../../core/base/escape.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { Run } from '../../../engine/runner/run/run-handle.ts'
import type { Interrupts } from '../input/interrupts.ts'
import { EventRenderer } from '../screen/event-renderer.ts'
import type { Screen } from '../screen/screen.ts'
import type { UsageTotals } from './usage-totals.ts'

/** Options of `showRun`. */
export interface ShowRunOptions {
  /** Where events are written. */
  readonly screen: Screen
  /** Ctrl+C cancels the run. */
  readonly interrupts: Interrupts
  /** The root agent; its text is shown without a name. */
  readonly rootName: string
  /** Show results in full. Default: false. */
  readonly verbose?: boolean | undefined
  /** Receives each truncated result in full. */
  readonly onTruncated?: ((text: string) => void) | undefined
  /** Tokens and time of the run are added to it. */
  readonly totals: UsageTotals
  /** An error code that does not count as a failure. */
  readonly ignoredErrorCode?: string | undefined
}

/** How a run that was shown ended. */
export interface ShownRun {
  /** The code of the error that the run ended with; undefined when it completed or paused without an error. */
  readonly failure: string | undefined
  /** The last stored event. */
  readonly lastEventId: string | undefined
}

/** Writes the events of a run to the screen as they arrive. Ctrl+C cancels the run. */
export async function showRun(run: Run, options: ShowRunOptions): Promise<ShownRun> {
  const { screen, interrupts, ignoredErrorCode, totals } = options
  const { width, colour, isLive } = screen
  const renderer = new EventRenderer({ ...options, width, colour, isLive })
  const startedAt = Date.now()
  let failure: string | undefined
  let lastEventId: string | undefined
  let isCancelled = false
  const stopListening = interrupts.listen(() => {
    stopListening() // the next Ctrl+C goes to the previous listener, which exits
    isCancelled = true
    screen.status('Cancelling. Press Ctrl+C again to exit', startedAt)
    run.cancel().catch(() => {}) // the run itself reports why it could not be cancelled
  })
  try {
    screen.status(renderer.status, startedAt)
    for await (const event of run) {
      screen.write(renderer.render(event))
      totals.add(event)
      if (!event.partial) lastEventId = event.id
      if (!isCancelled) screen.status(renderer.status, startedAt)
      if (event.errorCode !== undefined && event.isolationScope === undefined) failure = event.errorCode
    }
    screen.write(renderer.end())
  } catch (error) {
    const code = error instanceof ToolwrightError ? error.code : undefined
    if (code !== undefined && code === ignoredErrorCode) return { failure: undefined, lastEventId }
    failure = code ?? 'INTERNAL'
    const message = escapeLine(`! ${code ? `${code}: ` : ''}${messageOf(error)}`)
    screen.write(`${renderer.end()}${screen.paint(['red'], message)}\n`)
  } finally {
    stopListening()
    screen.status(undefined)
    totals.addTime(Date.now() - startedAt)
  }
  return { failure, lastEventId }
}
