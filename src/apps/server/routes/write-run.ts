import { ToolwrightError } from '../../../core/error/error.ts'
import type { Run } from '../../../engine/runner/run/run-handle.ts'
import { wireEvents } from '../wire/event-writer.ts'

/** The events of a run as JSON. A run whose events have too many bytes continues to its end, too. */
export async function writeRun(run: Run, maxBytes: number): Promise<string> {
  const events: string[] = []
  let bytes = 2
  for await (const event of wireEvents(run)) {
    const text = JSON.stringify(event)
    bytes += text.length + 1
    if (bytes <= maxBytes) events.push(text)
    else events.length = 0
  }
  if (bytes <= maxBytes) return `[${events.join(',')}]`
  throw new ToolwrightError(
    'TOO_LARGE',
    `The run has ended and is recorded, and its events have more than ${maxBytes} bytes. Read the session with ?limit=, or use /run_sse.`,
  )
}
