import { useEffect, useState } from 'preact/hooks'
import type { StatsGroup } from '../../../src/core/event/views/log-stats.ts'
import { getStats, type StatsResponse } from '../api/stats.ts'

/** The figures of a user; undefined while they are read for the first time. `again` reads them once more. */
export function useStats(
  app: string,
  userId: string,
  { by, hours }: { readonly by: StatsGroup; readonly hours: number | undefined },
): { readonly stats: StatsResponse | Error | undefined; readonly isReading: boolean; again(): void } {
  const [stats, setStats] = useState<StatsResponse | Error>()
  const [isReading, setReading] = useState(false)
  const [round, setRound] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    const since = hours === undefined ? undefined : Math.floor(Date.now() / 1000) - hours * 3600
    setReading(true)
    getStats({ app, userId, by, since }, stop.signal)
      .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
      .then((read) => {
        if (stop.signal.aborted) return
        setStats(read)
        setReading(false)
      })
    return () => stop.abort()
  }, [app, userId, by, hours, round])
  return { stats, isReading, again: () => setRound((now) => now + 1) }
}
