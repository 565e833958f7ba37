// What the watching process and the server that it started send each other.

/** The first message to a server. */
export interface StartMessage {
  /** The kind of message. */
  readonly type: 'start'
  /** The token of all servers, so that an open page stays signed in. */
  readonly token: string
  /** The port of the earlier servers; undefined for the first one. */
  readonly port: number | undefined
}

/** A message to a server: what to begin with, make room for the next server, or stop as after a signal. */
export type WatchCommand = StartMessage | { readonly type: 'restart' } | { readonly type: 'stop' }

/** A message of a server: it reads a file, its apps are loaded, it listens. */
export type WatchReport =
  | { readonly type: 'file'; readonly file: string }
  | { readonly type: 'loaded' }
  | { readonly type: 'listening'; readonly port: number }
