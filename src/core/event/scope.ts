/** Where in the agent tree something happens. Every event of an agent has one. */
export interface ScopePath {
  /** The scope path, such as `root/child@1/helper@call-7`. */
  readonly path: string
  /** Set below a ParallelAgent. */
  readonly branch?: string | undefined
  /** The path of the enclosing agent tool scope. Its events are not part of the caller's history. */
  readonly isolation?: string | undefined
}

/** The path of a child scope. `at` is the round of a workflow, `t<n>` for a transfer, or the call id of an agent tool. */
export function childPath(path: string, agentName: string, at: string | number): string {
  return `${path}/${agentName}@${at}`
}

/** Is this path the scope itself, or a scope below it? */
export function isWithin(path: string, scopePath: string): boolean {
  return path === scopePath || path.startsWith(`${scopePath}/`)
}

/** The number of agents on a path: 1 for the root. */
export function depthOf(path: string): number {
  return path.split('/').length
}

/** The agent that a scope started with: the name in the last step of its path. */
export function agentAt(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1)
  const at = last.indexOf('@')
  return at < 0 ? last : last.slice(0, at)
}

/** The round of a workflow that a path is in: that of the innermost step that is not in its first one. 1 outside of loops. */
export function roundOf(path: string): number {
  const rounds = Array.from(path.matchAll(/@(\d+)(?=\/|$)/g), ([, round]) => Number(round))
  return rounds.findLast((round) => round > 1) ?? 1
}

/** The id of the call whose agent works in the scope of an agent tool. */
export function callIdIn(isolationScope: string): string {
  return isolationScope.slice(isolationScope.lastIndexOf('@') + 1)
}
