// The steps of a request, in order, and the routes.
import { Hono } from 'hono'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ServerEnv, ServerParts } from './env.ts'
import { errorResponse } from './errors/error-response.ts'
import { bodyCheck } from './guard/body-check.ts'
import { edge } from './guard/edge.ts'
import { hostCheck } from './guard/host-check.ts'
import { originCheck } from './guard/origin-check.ts'
import { DEV_RUN_ROUTES, RUN_ROUTES, requestQuota, runQuota, streamQuota } from './guard/quotas.ts'
import { DEV_READ_ROUTES, READ_ROUTES, readQuota } from './guard/read-quota.ts'
import { healthRoutes, metricsRoutes } from './health/routes.ts'
import { authentication } from './principal/authentication.ts'
import { apiRoutes } from './routes/api-routes.ts'
import { devRoutes } from './routes/dev/dev-routes.ts'
import { pageRoutes } from './routes/page.ts'
import { liveRoutes } from './routes/run-live.ts'
import { ANSWER_ROUTE, SESSION } from './routes/scope.ts'

/** Builds the request handler of a server. */
export function buildApp(parts: ServerParts): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>()
  app.onError((error, context) => errorResponse(error, context, parts))
  app.notFound((context) => errorResponse(new ToolwrightError('NOT_FOUND', 'There is no such route.'), context, parts))
  app.use(edge(parts), hostCheck(parts), originCheck(parts))
  healthRoutes(app, parts)
  app.use(authentication(parts), requestQuota(parts), bodyCheck(parts))
  const { dev = false } = parts.options
  const running = [...RUN_ROUTES, ...(dev ? DEV_RUN_ROUTES : []), ANSWER_ROUTE]
  for (const route of running) app.post(route, runQuota(parts))
  const limitStreams = streamQuota(parts)
  app.post('/run_sse', limitStreams)
  app.get(`${SESSION}/stream`, limitStreams)
  const limitReads = readQuota(parts)
  const reading = dev ? [...READ_ROUTES, ...DEV_READ_ROUTES] : READ_ROUTES
  for (const route of reading) app.use(route, limitReads)
  metricsRoutes(app, parts)
  apiRoutes(app, parts)
  liveRoutes(app, parts)
  devRoutes(app, parts)
  pageRoutes(app, parts)
  return app
}
