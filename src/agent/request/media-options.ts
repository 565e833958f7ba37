/** What a model request holds of the images, sounds and documents of a session. */
export interface MediaOptions {
  /**
   * Stored files are sent while the user's message and as many messages after it are the latest ones; then a line of text
   * takes their place. `Infinity` sends them always. Default: 0 for an agent that has `loadArtifacts()`, else 3.
   */
  readonly earlierTurns?: number | undefined
  /** All files of one request together, decoded. The newest come first. Default 24 MiB. */
  readonly maxBytesPerRequest?: number | undefined
  /** Default 64. */
  readonly maxFilesPerRequest?: number | undefined
}
