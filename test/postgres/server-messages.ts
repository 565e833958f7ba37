/** What a test tells its server. `kill` kills the main process of Postgres only, as an operating system without memory does. */
export type ServerCommand = 'start' | 'stop' | 'stop immediately' | 'kill'

/** The answer to a command; first the URL. */
export interface ServerReply {
  /** The URL of the database `postgres`, with a role that may do everything. */
  readonly url?: string
  /** The folder with the programs and the data. */
  readonly folder?: string
  /** Why the command failed. */
  readonly error?: string
}
