/** Waits for the work, but not longer than until the signal aborts. `onLate` gets a result that arrives afterwards. */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  onLate: (result: T) => void = () => {},
): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => {
    aborted.reject(signal.reason)
    work.then(onLate, () => {}) // the abort is reported instead
  }
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([aborted.promise, work])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
