import type { MiddlewareHandler } from 'hono'
import { ToolwrightError } from '../../error/error.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { RequestRate } from './request-rate.ts'
import { RunSlots } from './run-slots.ts'

/** The routes that start runs. */
export const RUN_ROUTES: readonly string[] = ['/run', '/run_sse', '/dev/apps/:app/agents/:agent/tools/:tool/call']

/** Limits the requests of each principal. */
export function requestQuota({ limits }: ServerParts): MiddlewareHandler<ServerEnv> {
  const rate = new RequestRate(limits.requestsPerMinute)
  return async (context, next) => {
    rate.count(context.get('principal').userId)
    await next()
  }
}

/** Limits the streams that follow runs. They are counted apart: who has as many runs as allowed can still follow them. */
export function followQuota(parts: ServerParts): MiddlewareHandler<ServerEnv> {
  return runQuota(parts, new RunSlots(parts.limits.concurrentRuns))
}

/** Limits the concurrent runs of each principal. A stream gives its slot back when the run has ended. */
export function runQuota(parts: ServerParts, runSlots: RunSlots = parts.runSlots): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    if (parts.isClosing) throw new ToolwrightError('INTERRUPTED', 'The server is stopping.')
    const slot = runSlots.take(context.get('principal').userId)
    context.set('runSlot', slot)
    try {
      await next()
    } finally {
      if (!slot.isStreaming) slot.release()
    }
  }
}
