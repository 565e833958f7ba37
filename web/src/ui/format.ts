const DAY_MS = 24 * 60 * 60 * 1000

/** The time of day, with the date if it is not today. `seconds` since the epoch. */
export function formatTime(seconds: number, now: number = Date.now()): string {
  const date = new Date(seconds * 1000)
  const time = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
  if (date.toDateString() === new Date(now).toDateString()) return time
  const isRecent = Math.abs(now - date.getTime()) < 300 * DAY_MS
  const day = date.toLocaleDateString(undefined, {
    day: 'numeric',
    month: 'short',
    ...(isRecent ? {} : { year: 'numeric' as const }),
  })
  return `${day}, ${time}`
}

/** The time of day to the millisecond, in 24 hours: `14:03:07.250`. `seconds` since the epoch. */
export function formatExactTime(seconds: number): string {
  const date = new Date(seconds * 1000)
  const padded = (value: number, length = 2): string => String(value).padStart(length, '0')
  const [hours, minutes, rest] = [date.getHours(), date.getMinutes(), date.getSeconds()].map((value) => padded(value))
  return `${hours}:${minutes}:${rest}.${padded(date.getMilliseconds(), 3)}`
}

/** A duration: `120 ms`, `4.2 s`, `3 min 5 s`; with three `digits` `4.215 s`, `3 min 5.215 s`. */
export function formatDuration(milliseconds: number, digits = 1): string {
  const ms = Math.max(0, milliseconds)
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(digits)} s`
  if (digits > 1) return `${Math.floor(ms / 60_000)} min ${((ms % 60_000) / 1000).toFixed(digits)} s`
  const seconds = Math.round(ms / 1000)
  return seconds < 3600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

/** The time left until a point in time: `in 5 min`, `in 3 h`, `in 2 days`. `seconds` since the epoch. */
export function formatTimeLeft(seconds: number, now: number = Date.now()): string {
  const minutes = (seconds * 1000 - now) / 60_000
  if (minutes <= 0) return 'now'
  if (minutes < 1) return 'in less than a minute'
  if (minutes < 90) return `in ${Math.floor(minutes)} min`
  return minutes < 48 * 60 ? `in ${Math.floor(minutes / 60)} h` : `in ${Math.floor(minutes / 1440)} days`
}

/** A number of bytes: `512 B`, `3.4 kB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
