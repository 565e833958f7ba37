import { canonicalJson, copyJson, isRecord } from '../base/json.ts'
import { type Ports, portsWith } from '../base/ports.ts'
import { anything, type OptionRules } from '../error/check-options.ts'
import type { ToolContext } from '../tool/context.ts'
import { keepParts } from '../tool/parts.ts'
import type { PolicyCall, Tool } from '../tool/tool.ts'
import { isPlainJson } from './plain-json.ts'
import { unlessAborted } from './wait.ts'
import { addMiddleware, checkPolicyOptions, invalidPolicy, isCount, isDuration, requireTool } from './wrap.ts'

/** Within what a result may be used again; never for another user or app. */
export type CacheScope = 'invocation' | 'session' | 'user'

/** How long, how many and for whom. */
export interface CachedOptions {
  /** Default: until it is pushed out. */
  ttlMs?: number | undefined
  /** The least recently used goes first. Default 100. */
  maxEntries?: number | undefined
  /** Default `session`. */
  scope?: CacheScope | undefined
}

const RULES: OptionRules<CachedOptions> = { ttlMs: anything, maxEntries: anything, scope: anything }

/** A result, and whether it is the caller's final answer. */
interface CachedResult {
  readonly value: unknown
  readonly skipSummarization: boolean
}

/** How one run of the body ended, for those who waited for it. */
type SharedOutcome = ({ type: 'value' } & CachedResult) | { type: 'error'; error: unknown } | { type: 'not-shared' }

/**
 * Answers equal calls from memory and lets concurrent equal calls share one run. Only successes are kept: not what was
 * thrown, not an object with an `error`, not a pending long-running call. What the body does besides returning, state
 * and artifacts it writes, happens on the first call only.
 *
 * @example
 * cached(getExchangeRate, { ttlMs: 60_000, scope: 'user' })
 */
export function cached<T extends Tool>(tool: T, options: CachedOptions = {}, ports: Partial<Ports> = {}): T {
  requireTool('cached', tool)
  checkPolicyOptions('cached', tool, options, RULES, ports)
  const { ttlMs, maxEntries = 100, scope = 'session' } = options ?? {}
  if (ttlMs !== undefined && !isDuration(ttlMs))
    throw invalidPolicy('cached', tool, 'ttlMs must be a positive number of milliseconds.')
  if (!isCount(maxEntries)) throw invalidPolicy('cached', tool, 'maxEntries must be a whole number of at least 1.')
  if (!['invocation', 'session', 'user'].includes(scope))
    throw invalidPolicy('cached', tool, 'scope is "invocation", "session" or "user".')
  const { monotonicNow: now } = portsWith(ports)
  const entries = new Map<string, { kept: CachedResult; expiresAt: number }>()
  const running = new Map<string, Promise<SharedOutcome>>()

  return addMiddleware(tool, async (call, next) => {
    // Arguments that are more than JSON (a Date a schema made) have no honest key. What has begun goes on to its end.
    if (!isPlainJson(call.args) || call.isResumed) return await next(call)
    const key = cacheKey(call, scope)
    for (;;) {
      const entry = entries.get(key)
      entries.delete(key)
      if (entry && entry.expiresAt > now()) {
        entries.set(key, entry)
        return replay(call, entry.kept)
      }
      const leader = running.get(key)
      if (!leader) break
      const shared = await unlessAborted(leader, call.context.signal)
      if (shared.type === 'value') return replay(call, shared)
      if (shared.type === 'error') throw shared.error
    }

    const { promise, resolve } = Promise.withResolvers<SharedOutcome>()
    running.set(key, promise)
    let shared: SharedOutcome = { type: 'not-shared' }
    try {
      const value = await next(call)
      if (isShareable(value, call.context)) {
        const skipSummarization = call.context.actions.skipSummarization === true
        shared = { type: 'value', value: keepParts(value, copyJson(value)), skipSummarization }
        if (!isFailure(value)) keep(key, shared)
      }
      return value
    } catch (error) {
      // One that was cancelled says nothing about the others: the next of them runs it.
      if (!call.context.signal.aborted) shared = { type: 'error', error }
      throw error
    } finally {
      running.delete(key)
      resolve(shared)
    }
  })

  function keep(key: string, kept: CachedResult): void {
    entries.set(key, { kept, expiresAt: ttlMs === undefined ? Number.POSITIVE_INFINITY : now() + ttlMs })
    const [oldest] = entries.keys()
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
  }
}

// Only finished results are kept, so one from memory is finished, also of a tool that usually answers with a handle.
function replay({ context }: PolicyCall, { value, skipSummarization }: CachedResult): unknown {
  context.longRunning = false
  if (skipSummarization) context.actions.skipSummarization = true
  return keepParts(value, copyJson(value))
}

function cacheKey({ args, context }: PolicyCall, scope: CacheScope): string {
  const { appName, userId, session, invocationId } = context.invocation
  const within = scope === 'user' ? [] : scope === 'session' ? [session.id] : [session.id, invocationId]
  return canonicalJson([appName, userId, ...within, args])
}

// A result that also steers the run (a transfer, an open question) is more than its value.
function isShareable(value: unknown, context: ToolContext): boolean {
  const { transferToAgent, escalate, requestedToolConfirmations, requestedAuthConfigs } = context.actions
  if (context.longRunning || transferToAgent || escalate) return false
  if (requestedToolConfirmations || requestedAuthConfigs) return false
  return isPlainJson(value)
}

function isFailure(value: unknown): boolean {
  const error = isRecord(value) && Object.hasOwn(value, 'error') ? value.error : undefined
  return error !== null && error !== undefined && error !== false
}
