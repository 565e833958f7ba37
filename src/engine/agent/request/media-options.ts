/** Which images, sounds and documents of a session are sent to models. */
export interface MediaOptions {
  /**
   * How many earlier messages of the user are sent with their files, besides the latest one. Older files are replaced
   * by a line of text. `Infinity` sends all files. Default: 0 for an agent that has `loadArtifacts()`, else 3.
   */
  readonly earlierTurns?: number | undefined
  /** Most bytes of all files of one request, decoded. Newer files are sent first. Default 24 MiB. */
  readonly maxBytesPerRequest?: number | undefined
  /** Most files of one request. Newer files are sent first. Default 64. */
  readonly maxFilesPerRequest?: number | undefined
}
