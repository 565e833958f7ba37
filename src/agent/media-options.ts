/** What a model request holds of the images, sounds and documents of a session. */
export interface MediaOptions {
  /**
   * Stored files from before the last user message: `describe` puts a line of text in their place, `send` sends them as
   * long as the limits allow. Default: `describe` for an agent that has `loadArtifacts()`, else `send`.
   */
  readonly earlierTurns?: 'describe' | 'send' | undefined
  /** All files of one request together, decoded. The newest come first. Default 24 MiB. */
  readonly maxBytesPerRequest?: number | undefined
  /** Default 64. */
  readonly maxFilesPerRequest?: number | undefined
}
