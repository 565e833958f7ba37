import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatDuration, formatExactTime, formatTime, formatTimeLeft } from './format.ts'

/** A point in time. `seconds` since the epoch. `isExact` shows milliseconds. */
export function Time({ seconds, isExact }: { readonly seconds: number; readonly isExact?: boolean }): JSX.Element {
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) return <span>unknown time</span>
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {isExact ? formatExactTime(seconds) : formatTime(seconds)}
    </time>
  )
}

const TICK_MS = 200
const LEFT_TICK_MS = 20_000

/** How long it is until a point in time. `seconds` since the epoch. */
export function TimeLeft({ seconds }: { readonly seconds: number }): JSX.Element {
  const now = useNow(LEFT_TICK_MS)
  return <span title={new Date(seconds * 1000).toLocaleString()}>{formatTimeLeft(seconds, now)}</span>
}

/** The time between two points, in seconds since the epoch. Without an end it counts on. */
export function Elapsed({ from, to }: { readonly from: number; readonly to?: number | undefined }): JSX.Element {
  const now = useNow(to === undefined ? TICK_MS : undefined)
  return <span class="elapsed">{formatDuration((to === undefined ? now : to * 1000) - from * 1000)}</span>
}

/** The time, in milliseconds since the epoch, read again every `tickMs`; undefined: never. */
function useNow(tickMs: number | undefined): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (tickMs === undefined) return
    const timer = setInterval(() => setNow(Date.now()), tickMs)
    return () => clearInterval(timer)
  }, [tickMs])
  return now
}
