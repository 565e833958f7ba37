/** More than any honest program sends to its tools in one run. */
export const MAX_CALLS = 2000
export const MAX_CALL_BYTES = 1_000_000
export const MAX_BYTES = 32_000_000

/** What the code of one run may still send to its tools. Over it the run is stopped. */
export class CallBudget {
  #calls = 0
  #bytes = 0

  /** Counts a call of so many bytes. Gives the reason to stop the run when the call is over the budget. */
  spend(bytes: number): string | undefined {
    this.#calls++
    this.#bytes += bytes
    if (bytes > MAX_CALL_BYTES) return `a tool call is larger than ${MAX_CALL_BYTES} bytes`
    if (this.#calls > MAX_CALLS) return `it called tools more than ${MAX_CALLS} times`
    if (this.#bytes > MAX_BYTES) return `its tool calls are larger than ${MAX_BYTES} bytes together`
    return undefined
  }
}
