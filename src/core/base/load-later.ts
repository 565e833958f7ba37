const loads: (() => unknown)[] = []

/**
 * A part of the package that is loaded when it is first used. Later uses do not wait for the module loader, which may take several turns
 * of the event loop also for a file that is loaded.
 *
 * @example
 * const forking = loadLater(() => import('./fork-session.ts'))
 * const { forkSession } = await forking()
 */
export function loadLater<T extends object>(load: () => Promise<T>): () => T | Promise<T> {
  let loaded: T | undefined
  const use = (): T | Promise<T> =>
    loaded ??
    load().then((part) => {
      loaded = part
      return part
    })
  loads.push(use)
  return use
}

/** Loads all parts, for programs in which no step may wait for a file, such as a simulation. */
export async function loadAllParts(): Promise<void> {
  await Promise.all(loads.map((use) => use()))
}
