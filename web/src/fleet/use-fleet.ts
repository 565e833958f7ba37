import { useEffect, useState } from 'preact/hooks'
import type { FleetView } from '../../../src/engine/runner/work/fleet-view.ts'
import { isOffline } from '../api/api-error.ts'
import { getFleet } from '../api/fleet.ts'

/** How often the page reads the fleet while it is visible, in milliseconds. */
const EVERY_MS = 3_000

/** The workers and sessions of an app, read again and again. `again` reads them now. */
export function useFleet(app: string): { readonly fleet: FleetView | Error | undefined; again(): void } {
  const [fleet, setFleet] = useState<FleetView | Error>()
  const [round, setRound] = useState(0)
  const again = (): void => setRound((now) => now + 1)
  useEffect(() => {
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async (): Promise<void> => {
      clearTimeout(timer)
      if (document.visibilityState === 'visible') {
        try {
          setFleet(await getFleet(app, stop.signal))
        } catch (error) {
          if (stop.signal.aborted) return
          // what is known stays until the server is back
          setFleet((now) => (now && isOffline(error) ? now : error instanceof Error ? error : new Error(String(error))))
        }
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void read(), EVERY_MS)
    }
    const onVisible = (): void => again()
    document.addEventListener('visibilitychange', onVisible)
    void read()
    return () => {
      document.removeEventListener('visibilitychange', onVisible)
      clearTimeout(timer)
      stop.abort()
    }
  }, [app, round])
  return { fleet, again }
}
