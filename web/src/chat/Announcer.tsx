import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { ChatRow } from './rows.ts'

const MOST_CHARACTERS = 300

/** Tells screen readers about finished replies and calls that wait. Streaming text is not read piece by piece. */
export function Announcer({
  rows,
  isRunning,
}: {
  readonly rows: readonly ChatRow[]
  readonly isRunning: boolean
}): JSX.Element {
  const hasRun = useRef(false)
  hasRun.current ||= isRunning
  const last = rows.at(-1)
  // what was there when the page opened is not new
  const text = hasRun.current && last ? describe(last) : ''
  return (
    <p class="visually-hidden" role="status">
      {isRunning ? 'Running' : text}
    </p>
  )
}

function describe(row: ChatRow): string {
  switch (row.type) {
    case 'text':
      return `${row.author}: ${row.text.slice(0, MOST_CHARACTERS)}`
    case 'call':
      if (!row.call.response && row.inner.length > 0) return describe(row.inner.at(-1) ?? row)
      return row.call.status === 'waiting' ? `${row.call.name} waits for you` : `${row.call.name}: ${row.call.status}`
    case 'error':
      return `Error: ${row.message || row.code}`
    default:
      return ''
  }
}
