import type { JsonObject } from '../../../core/base/json.ts'

/** The first difference between a recording and its replay. */
export interface Difference {
  /** What differs: an entry of the log, a model request, or the order of bodies. */
  readonly kind: 'entry' | 'request' | 'body'
  /** Where: the position of an entry in the recorded log, or of a step in its scope. From 1 on. */
  readonly at: number
  /** What it is about. */
  readonly what: string
  /** The member that differs, such as `content.parts.0.text`. Empty for the whole. */
  readonly path: string
  /** What the recording has. */
  readonly recorded: string
  /** What the replay has. */
  readonly replayed: string
  /** The entries that differ, with renamed ids and without times, unless they are large. Undefined for what is no entry. */
  readonly entries?: DifferentEntries | undefined
}

/** An entry of a recording, and what a replay has in its place. */
export interface DifferentEntries {
  /** Undefined if the recording has no such entry. */
  readonly recorded?: JsonObject | undefined
  /** Undefined if the replay has no such entry. */
  readonly replayed?: JsonObject | undefined
}

/** A difference for people, in one paragraph. */
export function describeDifference({ kind, at, what, path, recorded, replayed }: Difference): string {
  const place = kind === 'entry' ? `Entry ${at} (${what})` : `Step ${at} (${kind}, ${what})`
  const member = path ? ` differs in ${path}` : ' differs'
  return `${place}${member}: recorded ${recorded}, replayed ${replayed}`
}
