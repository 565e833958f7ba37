import { canonicalJson, copyJson, isRecord } from '../../core/base/json.ts'
import { type Ports, withSystemPorts } from '../../core/base/ports.ts'
import { type OptionRules, oneOf } from '../../core/error/check-options.ts'
import { AgentInvocation } from '../context/agent-invocation.ts'
import type { ToolContext } from '../context/context.ts'
import { keepParts } from '../context/result-parts.ts'
import type { PolicyCall, Tool } from '../tool/tool.ts'
import { addMiddleware } from './add-middleware.ts'
import { COUNT, checkPolicyOptions, checkPorts, DURATION, requireTool } from './check-policy.ts'
import { isPlainJson } from './plain-json.ts'
import { type CachedResult, RecentResults } from './recent-results.ts'
import { unlessAborted } from './wait.ts'

/** Who shares a cached result: calls of one invocation, one session or one user. Users and apps never share results. */
export type CacheScope = 'invocation' | 'session' | 'user'

/** Options of `cached()`. */
export interface CachedOptions {
  /** How long a result is used, in milliseconds. Default: until `maxEntries` removes it. */
  ttlMs?: number | undefined
  /** Maximum number of results in memory. The least recently used result is removed first. Default 100. */
  maxEntries?: number | undefined
  /** Which calls share a result. Default `session`. */
  scope?: CacheScope | undefined
}

const RULES: OptionRules<CachedOptions> = {
  ttlMs: DURATION,
  maxEntries: COUNT,
  scope: oneOf('invocation', 'session', 'user'),
}

/** The outcome of a body run, for the concurrent calls that wait for it. */
type SharedOutcome = ({ type: 'value' } & CachedResult) | { type: 'error'; error: unknown } | { type: 'not-shared' }

/**
 * Returns the result of an earlier call with the same arguments. Concurrent equal calls share one run of the body. Only
 * successful results are cached: no errors, no objects with `error`, no pending long-running calls. State and artifacts
 * that the body writes are written on the first call only. The cache is in the memory of this process.
 *
 * @example
 * const exchangeRate = cached(getExchangeRate, { ttlMs: 60_000, scope: 'user' })
 */
export function cached<T extends Tool>(tool: T, options: CachedOptions = {}, ports: Partial<Ports> = {}): T {
  requireTool('cached', tool)
  checkPolicyOptions('cached', tool, options, RULES)
  checkPorts('cached', tool, ports)
  const { ttlMs = Number.POSITIVE_INFINITY, maxEntries = 100, scope = 'session' } = options ?? {}
  const cache = new RecentResults(ttlMs, maxEntries, withSystemPorts(ports).monotonicNow)
  const running = new Map<string, Promise<SharedOutcome>>()

  return addMiddleware(tool, async (call, next) => {
    // Arguments that are not JSON (a Date of a schema) have no reliable key. A resumed call has already started.
    if (!isPlainJson(call.args) || call.isResumed) return await next(call)
    const key = cacheKey(call, scope)
    for (;;) {
      const result = cache.get(key)
      if (result) return replay(call, result)
      const concurrent = running.get(key)
      if (!concurrent) break
      const outcome = await unlessAborted(concurrent, call.context.signal)
      if (outcome.type === 'value') return replay(call, outcome)
      if (outcome.type === 'error') throw outcome.error
    }

    const { promise, resolve } = Promise.withResolvers<SharedOutcome>()
    running.set(key, promise)
    let outcome: SharedOutcome = { type: 'not-shared' }
    try {
      const value = await next(call)
      if (isShareable(value, call.context)) {
        const skipSummarization = call.context.actions.skipSummarization === true
        outcome = { type: 'value', value: keepParts(value, copyJson(value)), skipSummarization }
        if (!isFailure(value)) cache.set(key, outcome)
      }
      return value
    } catch (error) {
      // a cancelled call is not shared: the next waiting call runs the body
      if (!call.context.signal.aborted) outcome = { type: 'error', error }
      throw error
    } finally {
      running.delete(key)
      resolve(outcome)
    }
  })
}

// Only final results are cached, so the call is final even if the tool is long-running.
function replay({ context }: PolicyCall, { value, skipSummarization }: CachedResult): unknown {
  context.longRunning = false
  if (skipSummarization) context.actions.skipSummarization = true
  return keepParts(value, copyJson(value))
}

function cacheKey({ args, context }: PolicyCall, scope: CacheScope): string {
  const { appName, userId, invocationId } = context.invocation
  const within = scope === 'user' ? [] : scope === 'session' ? [sessionOf(context)] : [sessionOf(context), invocationId]
  return canonicalJson([appName, userId, ...within, args])
}

/** The session, or who makes single calls: each of those has a session of its own. */
function sessionOf({ invocation }: ToolContext): string {
  return AgentInvocation.callerOf(invocation) ?? invocation.session.id
}

// A result with actions that control the run (a transfer, a pending request) cannot be replayed from its value.
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
