/** Maximum number of tool calls of one run. Ordinary programs make far fewer. */
export const MAX_CALLS = 2000
/** Maximum number of bytes of one tool call. */
export const MAX_CALL_BYTES = 1_000_000
/** Maximum number of bytes of all tool calls of one run. */
export const MAX_TOTAL_BYTES = 32_000_000

/** Counts the tool calls of one run of code. A run over the budget is stopped, so that code cannot flood the host. */
export class CallBudget {
  #calls = 0
  #bytes = 0

  /** Counts one call of `bytes` bytes. Returns the reason to stop the run if the call exceeds the budget. */
  spend(bytes: number): string | undefined {
    this.#calls++
    this.#bytes += bytes
    if (bytes > MAX_CALL_BYTES) return CALL_TOO_LARGE
    if (this.#calls > MAX_CALLS) return `the code made more than ${MAX_CALLS} tool calls`
    if (this.#bytes > MAX_TOTAL_BYTES) return `the tool calls of the code exceed ${MAX_TOTAL_BYTES} bytes in total`
    return undefined
  }
}

/** Why a run with an oversized tool call is stopped. */
export const CALL_TOO_LARGE: string = `a tool call is larger than ${MAX_CALL_BYTES} bytes`
