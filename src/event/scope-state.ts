// The state of one scope of an invocation, as the fold computes it from the log.
import type { JsonObject } from '../base/json.ts'
import { type CallState, signatureOf } from './call-state.ts'

/** The state of one scope. */
export interface ScopeState {
  /** The scope path, such as `root/child@1`. */
  readonly path: string
  /** The branch of the scope; set below a ParallelAgent. */
  readonly branch: string | undefined
  /** The path of the enclosing agent tool scope, if any. */
  readonly isolation: string | undefined
  /** The target of the latest transfer; undefined = the agent the scope started with. */
  active: string | undefined
  /** The number of transfers so far. */
  transfers: number
  /** The calls of the latest model reply, in order. */
  calls: readonly CallState[]
  /** The latest model reply had no calls. */
  answered: boolean
  /** An event of the scope has `escalate`. */
  escalated: boolean
  /** A response since the latest model reply has `skipSummarization`. */
  skipped: boolean
  /** Grounding of the results since the latest model reply; it is added to the next reply. */
  grounding: JsonObject | undefined
  /** The scope is finished. */
  ended: boolean
  /** The error that ended the scope. */
  error: { readonly code: string; readonly message: string } | undefined
  /** Every agent that was active in the scope, with the number of its replies. */
  speakers: readonly Speaker[]
  /** How often a reply did not match the output schema of the agent and a correction was requested. */
  corrections: number
  /** Calls of the latest reply that failed, and how often in a row each has failed. */
  failures: Failures | undefined
  /** `failures` of the reply before. */
  earlierFailures: Failures | undefined
  /** The number of calls of the invocation when this scope was opened again. Earlier calls belong to a failed attempt. */
  reopenedAt: number
}

/** How often in a row equal calls have failed, by signature. */
type Failures = Map<string, number>

/** An agent in a scope. */
export interface Speaker {
  /** The name of the agent. */
  readonly name: string
  /** The number of its model replies. */
  replies: number
}

interface States {
  readonly scopes: ReadonlyMap<string, ScopeState>
  readonly calls: ReadonlyMap<string, CallState>
}

/** Has this agent been active in this scope? */
export function hasActed(scope: ScopeState | undefined, agentName: string): boolean {
  return scope?.speakers.some((one) => one.name === agentName) ?? false
}

/** Counts one more failure of this call in a row. */
export function countFailure(scope: ScopeState | undefined, call: CallState): void {
  if (!scope) return
  const signature = signatureOf(call)
  scope.failures ??= new Map()
  const before = scope.failures.get(signature) ?? scope.earlierFailures?.get(signature) ?? 0
  scope.failures.set(signature, before + 1)
}

/**
 * Clears the errors of the scopes inside an agent tool: another attempt continues where the last one failed. Returns
 * false when no scope has failed: then there is no other attempt.
 */
export function reopenScopes({ scopes, calls }: States, isolation: string): boolean {
  let hasFailed = false
  for (const scope of scopes.values()) {
    if (scope.isolation !== isolation || !scope.error) continue
    hasFailed = true
    scope.error = undefined
    scope.ended = false
    scope.answered = false
    scope.corrections = 0
    scope.failures = undefined
    scope.earlierFailures = undefined
    scope.speakers = scope.speakers.map(({ name }) => ({ name, replies: 0 }))
    scope.reopenedAt = calls.size
  }
  return hasFailed
}

/** Copies a scope. `callOf` returns the copy of a call. */
export function copyScope(scope: ScopeState, callOf: (call: CallState) => CallState): ScopeState {
  const speakers = scope.speakers.map((one) => ({ ...one }))
  const failures = scope.failures && new Map(scope.failures)
  return { ...scope, calls: scope.calls.map(callOf), speakers, failures }
}
