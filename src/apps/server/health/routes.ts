import type { Hono } from 'hono'
import { systemPorts } from '../../../core/base/ports.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { Apps } from '../apps.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { checkAnyUser } from '../principal/authentication.ts'

/** How long `/ready` waits for a store, in milliseconds. */
const READY_MS = 2_000

/** Routes that need no principal. They say nothing about users, apps or the reason of a failure. */
export function healthRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/health', (context) => context.json({ status: 'ok' }))
  let check: Promise<boolean> | undefined // one for all clients: they need no token, and a store may be slow
  const canRead = (): Promise<boolean> => {
    check ??= canReadStores(parts).finally(() => {
      check = undefined
    })
    return check
  }
  app.get('/ready', async (context) => {
    const isReady = !parts.closing.aborted && (await canRead())
    return context.json({ status: isReady ? 'ready' : 'not ready' }, isReady ? 200 : 503)
  })
}

/** Figures for operators, in the text format of Prometheus. */
export function metricsRoutes(app: Hono<ServerEnv>, { metrics, runSlots, apps }: ServerParts): void {
  const gauges = [
    { name: 'toolwright_active_runs', help: 'Runs that requests have started.', read: () => runSlots.total },
    {
      name: 'toolwright_pending_requests',
      help: 'Requests that wait for an answer, in stores that can count them.',
      read: () => countPending(apps),
    },
  ]
  app.get('/metrics', async (context) => {
    checkAnyUser(context, 'read the metrics')
    const text = await metrics.write(gauges)
    return new Response(text, { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } })
  })
}

/** The stores count the requests and do not read them: there may be many, with large arguments. */
async function countPending(apps: Apps): Promise<number> {
  const counts = apps.all().map(async ({ runner: { appName, sessionService } }) => {
    return (await sessionService.pendingSummary?.({ appName }))?.count ?? 0
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

/** Can the store of every app be read? A session that does not exist is looked up. */
async function canReadStores({ apps, logger }: ServerParts): Promise<boolean> {
  const key = { userId: 'ready', sessionId: 'ready' }
  try {
    const reads = apps.all().map(({ runner }) => runner.sessionService.getSession({ appName: runner.appName, ...key }))
    await withTimeout(Promise.all(reads), READY_MS, systemPorts, () => {
      throw new Error(`no answer within ${READY_MS} ms`)
    })
    return true
  } catch (error) {
    logger.error('The server is not ready: a session store cannot be read.', error)
    return false
  }
}
