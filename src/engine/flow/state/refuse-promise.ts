/** Throws if a value is a promise, for functions of the developer whose result is used at once. */
export function refusePromise(value: unknown): void {
  if (typeof value !== 'object' || value === null || !('then' in value) || typeof value.then !== 'function') return
  // Nothing awaits this promise. Its rejection must not end the process.
  value.then(undefined, () => undefined)
  throw new TypeError('It returned a promise. Return the value itself, and not from an async function.')
}
