import type { Hono } from 'hono'
import type { ServedApp } from '../apps.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../env.ts'
import { readModality } from '../live/response-modality.ts'
import { needsSocket, serveLive } from '../live/serve-live.ts'
import { actingUser } from '../principal/authentication.ts'
import { invalid } from '../wire/fields.ts'

/** The WebSocket for live sessions. */
export function liveRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/run_live', (context) => {
    const { acceptSocket } = context.env ?? {}
    if (!acceptSocket) throw needsSocket()
    const request = {
      app: findApp(parts, read(context, 'app_name')),
      userId: actingUser(context, read(context, 'user_id')),
      sessionId: read(context, 'session_id'),
      modality: readModality(context.req.queries('modalities')),
      isNative: context.req.query('frames') === 'live',
      correlationId: context.get('correlationId'),
      principal: context.get('principal'),
      traceparent: context.req.header('traceparent') || undefined,
    }
    acceptSocket((socket) => void serveLive(socket, request, parts))
    return context.body(null)
  })
}

function findApp({ apps }: ServerParts, name: string): ServedApp | undefined {
  return apps.all().find((app) => app.name === name)
}

function read(context: RequestContext, name: string): string {
  const camel = name.replace(/_(\w)/, (_, letter: string) => letter.toUpperCase())
  const [value, ...others] = [name, camel].flatMap((one) => context.req.queries(one) ?? [])
  if (others.length > 0) throw invalid(`The query parameter "${name}" is there twice. Send it once.`)
  if (!value) throw invalid(`The query parameter "${name}" is missing.`)
  return value
}
