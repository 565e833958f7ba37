// What the user of a live session sends, for the tools that run meanwhile.

/** What a user sends while a session is live. Tools read it from `context.liveInput`. */
export type LiveInput =
  | { readonly type: 'audio'; readonly data: Uint8Array; readonly mimeType: string }
  | { readonly type: 'video'; readonly data: Uint8Array; readonly mimeType: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'activity'; readonly state: 'start' | 'end' }
  /** Only in `context.liveInput`: the tool was too slow, and this many inputs were dropped. */
  | { readonly type: 'lagged'; readonly dropped: number }

/** Lets tools read the input of a live session. */
export interface LiveInputSource {
  /** Starts to keep the input for one reader. */
  subscribe(): LiveInputReader
}

/** The input of a live session from the moment of the subscription, for one tool call. */
export interface LiveInputReader extends AsyncIterable<LiveInput> {
  /** Ends the input. */
  end(): void
}
