import { useEffect, useReducer } from 'preact/hooks'

/** A value that components watch. */
export interface Signal<T> {
  /** The current value. */
  readonly value: T
  /** Replaces the value. Watchers run if it is another one. */
  set(value: T): void
  /** Replaces the value by one made from it. */
  update(change: (value: T) => T): void
  /** Calls `watcher` after each change. Returns the function that stops it. */
  watch(watcher: () => void): () => void
}

/** Creates a signal. */
export function signal<T>(initial: T): Signal<T> {
  let current = initial
  const watchers = new Set<() => void>()
  return {
    get value() {
      return current
    },
    set(value) {
      if (Object.is(value, current)) return
      current = value
      for (const watcher of [...watchers]) watcher()
    },
    update(change) {
      this.set(change(current))
    },
    watch(watcher) {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
  }
}

/** The value of a signal; the component renders again when it changes. */
export function useSignal<T>(source: Signal<T>): T {
  const [, render] = useReducer<number, void>((count) => count + 1, 0)
  const seen = source.value
  useEffect(() => {
    // the value may have changed between rendering and this effect
    if (!Object.is(source.value, seen)) render()
    return source.watch(() => render())
  }, [source])
  return seen
}
