/**
 * The result of reading a line: the line, the end of the input, Ctrl+C, or the abort of the read. `isEarly`: the line was written
 * before the request was shown.
 */
export type LineResult =
  | { readonly type: 'line'; readonly text: string; readonly isEarly?: boolean }
  | { readonly type: 'end' }
  | { readonly type: 'interrupt' }
  | { readonly type: 'aborted' }

/** Reads lines one at a time. */
export interface LineSource {
  /** Called before a request is shown: lines that were written until then are early. */
  showing?(): Promise<void>
  /**
   * Reads the next message, or, with the label of a request prompt, the answer to it. `initial` is put on a line that the
   * user can edit. `signal` removes the prompt, and the line that it would read goes to the next one.
   */
  read(label?: string, initial?: string, signal?: AbortSignal): Promise<LineResult>
  /** Stops reading. */
  close(): void
}

/** Returns the given lines, then the end. */
export function fixedLines(texts: readonly string[]): LineSource {
  const rest = texts.values()
  return {
    async read() {
      const { value: text } = rest.next()
      return text === undefined ? { type: 'end' } : { type: 'line', text }
    },
    close: () => {},
  }
}
