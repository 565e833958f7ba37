import { type Ports, systemPorts } from '../base/ports.ts'
import { anything, flag, type OptionRules } from '../error/check-options.ts'
import { ToolError, ToolwrightError } from '../error/error.ts'
import { readReconciled } from '../tool/reconciled.ts'
import type { PolicyCall, Reconciled, Tool } from '../tool/tool.ts'
import { sleep } from './wait.ts'
import { addMiddleware, checkPolicyOptions, invalidPolicy, isCount, isDuration, requireTool } from './wrap.ts'

/** How often, after what pause, and after which errors a body is run again. */
export interface RetryOptions {
  /** The first one included. */
  attempts: number
  /** Before the second attempt. Default 200. */
  delayMs?: number | undefined
  /** What each further pause is multiplied by. Default 2. */
  factor?: number | undefined
  /** Default 30,000. */
  maxDelayMs?: number | undefined
  /** Shorten each pause by a random part, up to half, so that many callers do not come back at once. Default true. */
  jitter?: boolean | undefined
  /** Is it worth another attempt? Only `true` says so. Default: any error. */
  when?: ((error: unknown) => boolean) | undefined
}

const RULES: OptionRules<RetryOptions> = {
  attempts: anything,
  delayMs: anything,
  factor: anything,
  maxDelayMs: anything,
  jitter: flag,
  when: anything,
}

/**
 * Runs the body again when it throws. Refused for tools whose effect is `atMostOnce`; a `reconcilable` one is asked
 * first what the failed attempt did. Answers that say what is wrong (`INVALID_ARGS`, `NOT_FOUND`, `CANCELLED`) and
 * aborted calls are final.
 *
 * @example
 * retry(search, { attempts: 3 })
 */
export function retry<T extends Tool>(tool: T, options: RetryOptions, ports: Partial<Ports> = {}): T {
  requireTool('retry', tool)
  checkPolicyOptions('retry', tool, options, RULES, ports)
  const { attempts, delayMs = 200, factor = 2, maxDelayMs = 30_000, jitter = true, when } = options ?? {}
  if (!isCount(attempts)) throw invalidPolicy('retry', tool, 'attempts must be a whole number of at least 1.')
  if (delayMs !== 0 && !isDuration(delayMs)) throw invalidPolicy('retry', tool, 'delayMs must be milliseconds, or 0.')
  if (!isDuration(maxDelayMs))
    throw invalidPolicy('retry', tool, 'maxDelayMs must be a positive number of milliseconds.')
  if (!(factor >= 1 && Number.isFinite(factor))) throw invalidPolicy('retry', tool, 'factor must be at least 1.')
  if (when !== undefined && typeof when !== 'function') throw invalidPolicy('retry', tool, 'when must be a function.')
  if ((tool.effect ?? 'atMostOnce') === 'atMostOnce')
    throw invalidPolicy(
      'retry',
      tool,
      'its effect is "atMostOnce", so running it again could do the thing twice. Give it effect "none" or "idempotent", ' +
        'or "reconcilable" with a reconcile function.',
    )
  const random = ports.random ?? systemPorts.random
  return addMiddleware(tool, async (call, next) => {
    const { context } = call
    const { longRunning } = context
    for (let attempt = 1; ; attempt++) {
      try {
        return await next(call)
      } catch (error) {
        if (attempt >= attempts || context.signal.aborted || isFinal(error) || !isRetryable(when, error)) throw error
        const pause = Math.min(delayMs * factor ** (attempt - 1), maxDelayMs)
        // a body that fails at once would keep timers and cancellation from having a turn
        if (pause > 0 || attempt % ATTEMPTS_PER_TURN === 0)
          await sleep(jitter ? pause * (1 - random() / 2) : pause, context.signal, ports)
        if (tool.effect === 'reconcilable') {
          const found = await reconcile(tool, call, ports)
          if (found?.status === 'done') return found.result
          if (found?.status !== 'not-done') throw error
        }
        context.longRunning = longRunning
      }
    }
  })
}

/** Attempts without a pause before timers have a turn. */
const ATTEMPTS_PER_TURN = 100

const FINAL_CODES = new Set(['INVALID_ARGS', 'INVALID_RESULT', 'NOT_FOUND', 'CANCELLED'])

// Errors of the framework (a stale append, a lost lease) end the run; they are not the tool's.
function isFinal(error: unknown): boolean {
  return error instanceof ToolwrightError || (error instanceof ToolError && FINAL_CODES.has(error.code))
}

function isRetryable(when: RetryOptions['when'], error: unknown): boolean {
  try {
    const answer: unknown = when === undefined || when(error)
    if (answer instanceof Promise) answer.catch(() => {}) // no `true`, whatever it becomes
    return answer === true
  } catch {
    return false
  }
}

const RECONCILE_MS = 30_000

/**
 * What became of a failed attempt. Undefined when `reconcile` throws or misses the tool's deadline: the error of the
 * attempt stays, because that attempt may have taken effect.
 */
async function reconcile(tool: Tool, call: PolicyCall, ports: Partial<Ports>): Promise<Reconciled | undefined> {
  const { args, context } = call
  const { timeoutMs = RECONCILE_MS } = tool
  const waiting = new AbortController()
  try {
    const asked = Promise.resolve(tool.reconcile?.({ idempotencyKey: context.idempotencyKey, args, context }))
    if (timeoutMs === Number.POSITIVE_INFINITY) return readReconciled(await asked)
    return readReconciled(await Promise.race([asked, sleep(timeoutMs, waiting.signal, ports)]))
  } catch {
    return undefined
  } finally {
    waiting.abort()
  }
}
