// A fold as JSON, so that a store can keep it. States that refer to each other are stored once, and named by their ids.
import type { Event } from './event.ts'
import { Fold } from './fold.ts'
import { type CallState, createCall, createScope, NO_CALLS, type ScopeState } from './invocation-state.ts'

/** A fold as JSON. */
export interface FoldCheckpoint {
  /** The id of the invocation. */
  readonly invocationId: string
  /** The agent that is active at the root before the first transfer. */
  readonly start?: string | undefined
  /** The sequence number of the first entry. */
  readonly firstSeq: number
  /** The number of model replies. */
  readonly replies: number
  /** The user message that started the invocation. */
  readonly userEvent?: Event | undefined
  /** Whether another program wrote the events. */
  readonly isForeign: boolean
  /** The scopes, in order. */
  readonly scopes: readonly StoredScope[]
  /** The calls, in order. */
  readonly calls: readonly CallState[]
  /** The ids of the calls that stand for toolsets, by scope path. */
  readonly toolsetCalls: readonly (readonly [path: string, callIds: readonly string[]])[]
  /** The latest final reply inside each agent tool. */
  readonly lastReplies: readonly (readonly [isolation: string, reply: Event])[]
  /** The ids of the calls that wait. */
  readonly waiting: readonly string[]
}

type Counts = readonly (readonly [signature: string, count: number])[]

/** A scope as JSON: with the ids of its calls. */
export interface StoredScope extends Omit<ScopeState, 'calls' | 'failures' | 'earlierFailures'> {
  /** The ids of its calls. */
  readonly calls: readonly string[]
  /** Failures by signature. */
  readonly failures?: Counts | undefined
  /** Failures of the reply before. */
  readonly earlierFailures?: Counts | undefined
}

/** The fold as JSON. It shares objects with the fold: copy it, or make it a text at once. */
export function storeFold(fold: Fold): FoldCheckpoint {
  const { scopes, toolsetCalls, waiting, ...stored } = fold.stored
  return {
    ...stored,
    scopes: scopes.map(({ calls, failures, earlierFailures, ...scope }) => ({
      ...scope,
      calls: calls.map(idOf),
      failures: failures && [...failures],
      earlierFailures: earlierFailures && [...earlierFailures],
    })),
    toolsetCalls: [...toolsetCalls].map(([path, calls]) => [path, calls.map(idOf)]),
    waiting: waiting.map(idOf),
  }
}

/** The fold of a checkpoint. Throws if the checkpoint names a call that it does not have. */
export function readFold({ scopes, calls, toolsetCalls, waiting, ...stored }: FoldCheckpoint): Fold {
  // objects of a fold have all their keys, in one order: V8 keeps one shape for them
  const states = new Map(calls.map((call) => [call.id, readCall(call)]))
  const find = (id: string): CallState => {
    const call = states.get(id)
    if (!call) throw new Error(`The checkpoint has no call "${id}".`)
    return call
  }
  return Fold.restore({
    ...stored,
    start: stored.start,
    userEvent: stored.userEvent,
    scopes: scopes.map((scope) => readScope(scope, find)),
    calls: [...states.values()],
    toolsetCalls: new Map(toolsetCalls.map(([path, ids]) => [path, ids.map(find)])),
    waiting: waiting.map(find),
  })
}

const idOf = ({ id }: CallState): string => id

function readCall(stored: CallState): CallState {
  const requests = stored.requests.map(({ request, seq, answer, denied }) => ({ request, seq, answer, denied }))
  const call = createCall(stored, stored)
  return Object.assign(call, stored, { requests: requests.length ? requests : call.requests })
}

function readScope(stored: StoredScope, find: (id: string) => CallState): ScopeState {
  const { calls, failures, earlierFailures, ...rest } = stored
  const scope = createScope({ path: stored.path, branch: stored.branch, isolation: stored.isolation })
  return Object.assign(scope, rest, {
    calls: calls.length ? calls.map(find) : NO_CALLS,
    failures: failures && new Map(failures),
    earlierFailures: earlierFailures && new Map(earlierFailures),
  })
}
