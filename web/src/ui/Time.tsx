import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatDuration, formatExactTime, formatTime } from './format.ts'

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

/** The time between two points, in seconds since the epoch. Without an end it counts on. */
export function Elapsed({ from, to }: { readonly from: number; readonly to?: number | undefined }): JSX.Element {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (to !== undefined) return
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [to])
  return <span class="elapsed">{formatDuration((to === undefined ? now : to * 1000) - from * 1000)}</span>
}
