import type { MiddlewareHandler } from 'hono'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { RunSlots } from './run-slots.ts'

/** The routes that start runs and follow none. */
export const RUN_ROUTES: readonly string[] = ['/run']

/** Those of developers. */
export const DEV_RUN_ROUTES: readonly string[] = [
  '/dev/apps/:app/agents/:agent/tools/:tool/call',
  '/dev/apps/:app/agents/:agent/tools/:tool/crash-test',
]

/** Limits the requests of each principal. */
export function requestQuota({ requestRate }: ServerParts): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    requestRate.count(context.get('principal').userId)
    await next()
  }
}

/** Limits the concurrent runs of each principal. A stream gives its slot back when the run has ended. */
export function runQuota(parts: ServerParts): MiddlewareHandler<ServerEnv> {
  return limitSlots(parts, () => parts.runSlots)
}

/**
 * Limits the streams of `/run_sse` and of the route that follows a run. Streams that follow are counted apart: who has as many
 * runs as allowed, such as a client that lost its connection, can still follow them.
 */
export function streamQuota(parts: ServerParts): MiddlewareHandler<ServerEnv> {
  const following = new RunSlots(parts.limits.concurrentRuns)
  return limitSlots(parts, ({ req }) => (req.method !== 'POST' || lastEventId(req) ? following : parts.runSlots))
}

/** The event after which a request follows a run; undefined if it has none. */
export function lastEventId(req: RequestContext['req']): string | undefined {
  return req.header('last-event-id') || undefined
}

function limitSlots(parts: ServerParts, slotsFor: (context: RequestContext) => RunSlots): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    if (parts.closing.aborted) throw new ToolwrightError('INTERRUPTED', 'The server is stopping.')
    const slot = slotsFor(context).take(context.get('principal').userId)
    context.set('runSlot', slot)
    try {
      await next()
    } finally {
      if (!slot.isStreaming) slot.release()
    }
  }
}
