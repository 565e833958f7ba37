/** Where in an invocation something happens; written on every event of it. */
export interface ScopePath {
  /** `root/child@1/helper@call-7` */
  readonly path: string
  /** Set below a ParallelAgent. */
  readonly branch?: string | undefined
  /** Set inside an agent tool: its events are not the caller's. */
  readonly isolation?: string | undefined
}

/** The scope of an agent inside another's: `at` is the round, `t<n>` for a transfer, or the call id of an agent tool. */
export function childPath(path: string, agentName: string, at: string | number): string {
  return `${path}/${agentName}@${at}`
}

/** Is this path the scope itself, or a scope below it? */
export function isWithin(path: string, scopePath: string): boolean {
  return path === scopePath || path.startsWith(`${scopePath}/`)
}
