import { type Ports, systemPorts } from '../../core/base/ports.ts'
import { callback, flag, type OptionRules } from '../../core/error/check-options.ts'
import { ToolError, ToolwrightError } from '../../core/error/error.ts'
import { readReconciled } from '../tool/read-reconciled.ts'
import type { PolicyCall, Reconciled, Tool } from '../tool/tool.ts'
import { addMiddleware } from './add-middleware.ts'
import {
  COUNT,
  checkPolicyOptions,
  checkPorts,
  DURATION,
  DURATION_OR_ZERO,
  invalidPolicy,
  requireOption,
  requireTool,
} from './check-policy.ts'
import { sleep } from './wait.ts'

/** Options of `retry()`. */
export interface RetryOptions {
  /** Maximum number of attempts, the first one included. */
  attempts: number
  /** Delay before the second attempt in milliseconds. Default 200. */
  delayMs?: number | undefined
  /** Factor by which the delay grows with each further attempt. Default 2. */
  factor?: number | undefined
  /** Upper limit of the delay in milliseconds. Default 30,000. */
  maxDelayMs?: number | undefined
  /** Whether to shorten each delay by a random part of up to half, so that retries do not coincide. Default true. */
  jitter?: boolean | undefined
  /** Whether to retry after an error. Only `true` retries. Default: retry after any error. */
  when?: ((error: unknown) => boolean) | undefined
}

const RULES: OptionRules<RetryOptions> = {
  attempts: COUNT,
  delayMs: DURATION_OR_ZERO,
  factor: { expects: 'a number >= 1', accepts: (value) => Number.isFinite(value) && Number(value) >= 1 },
  maxDelayMs: DURATION,
  jitter: flag,
  when: callback,
}

/**
 * Runs the body again when it throws. Errors with the code `INVALID_ARGS`, `INVALID_RESULT`, `NOT_FOUND` or `CANCELLED` and
 * aborted calls are not retried. A tool with effect `reconcilable` is reconciled before each retry. A tool with effect
 * `atMostOnce` cannot be retried: `retry()` throws INVALID_CONFIG. Each retry after a delay is reported as progress of the call.
 *
 * @example
 * const search = retry(webSearch, { attempts: 3 })
 */
export function retry<T extends Tool>(tool: T, options: RetryOptions, ports: Partial<Ports> = {}): T {
  requireTool('retry', tool)
  checkPolicyOptions('retry', tool, options, RULES)
  checkPorts('retry', tool, ports)
  const { attempts, delayMs = 200, factor = 2, maxDelayMs = 30_000, jitter = true, when } = options ?? {}
  requireOption('retry', tool, 'attempts', attempts)
  if ((tool.effect ?? 'atMostOnce') === 'atMostOnce')
    throw invalidPolicy(
      'retry',
      tool,
      'its effect is "atMostOnce", so a retry could take effect twice. Set effect to "none" or "idempotent", or to ' +
        '"reconcilable" with a reconcile function.',
    )
  const random = ports.random ?? systemPorts.random
  return addMiddleware(tool, async (call, next) => {
    const { context } = call
    const { longRunning } = context
    for (let attempt = 1; ; attempt++) {
      try {
        return await next({ ...call, attempts })
      } catch (error) {
        if (attempt >= attempts || context.signal.aborted || isFinal(error) || !isRetryable(when, error)) throw error
        const delay = Math.min(delayMs * factor ** (attempt - 1), maxDelayMs)
        if (delay > 0) {
          // without the error: progress is not redacted
          const message = `Attempt ${attempt} of ${attempts} failed. Trying again.`
          context.progress({ message, attempt, attempts })
        }
        // a body that fails synchronously would block timers and cancellation
        if (delay > 0 || attempt % ATTEMPTS_PER_TURN === 0)
          await sleep(jitter ? delay * (1 - random() / 2) : delay, context.signal, ports)
        if (tool.effect === 'reconcilable') {
          const reconciled = await reconcile(tool, call, ports)
          if (reconciled?.status === 'done') return reconciled.result
          if (reconciled?.status !== 'not-done') throw error
        }
        context.longRunning = longRunning
      }
    }
  })
}

/** Number of attempts without a delay before timers run. */
const ATTEMPTS_PER_TURN = 100

const FINAL_CODES = new Set(['INVALID_ARGS', 'INVALID_RESULT', 'NOT_FOUND', 'CANCELLED'])

// Errors of the framework (a lost lease) end the run. They are not errors of the tool.
function isFinal(error: unknown): boolean {
  return error instanceof ToolwrightError || (error instanceof ToolError && FINAL_CODES.has(error.code))
}

function isRetryable(when: RetryOptions['when'], error: unknown): boolean {
  try {
    const result: unknown = when === undefined || when(error)
    if (result instanceof Promise) result.catch(() => {}) // a promise is not `true`; prevents an unhandled rejection
    return result === true
  } catch {
    return false
  }
}

/** Time limit of `reconcile` for a tool without its own, in milliseconds. */
const RECONCILE_MS = 30_000

/** The outcome of a failed attempt. Undefined when `reconcile` throws or times out: the attempt may have taken effect. */
async function reconcile(tool: Tool, call: PolicyCall, ports: Partial<Ports>): Promise<Reconciled | undefined> {
  const { args, context } = call
  const { timeoutMs = RECONCILE_MS } = tool
  const timer = new AbortController()
  try {
    const pending = Promise.resolve(tool.reconcile?.({ idempotencyKey: context.idempotencyKey, args, context }))
    if (timeoutMs === Number.POSITIVE_INFINITY) return readReconciled(await pending)
    return readReconciled(await Promise.race([pending, sleep(timeoutMs, timer.signal, ports)]))
  } catch {
    return undefined
  } finally {
    timer.abort()
  }
}
