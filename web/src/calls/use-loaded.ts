import { useEffect, useState } from 'preact/hooks'

/** What was asked for: nothing yet, the value, or why there is none. */
export interface Loaded<T> {
  /** The value. */
  readonly value?: T
  /** Why it could not be read. */
  readonly error?: unknown
}

/** Reads something from the server, again when one of `inputs` changes. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({})
  useEffect(() => {
    let isCurrent = true
    setLoaded({})
    load().then(
      (value) => isCurrent && setLoaded({ value }),
      (error) => isCurrent && setLoaded({ error }),
    )
    return () => {
      isCurrent = false
    }
  }, inputs)
  return loaded
}
