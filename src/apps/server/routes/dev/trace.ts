import type { Hono } from 'hono'
import { ToolwrightError } from '../../../../core/error/error.ts'
import type { Session } from '../../../../services/session/service.ts'
import type { ServedApp } from '../../apps.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import { modelName } from '../../graph/describe-agents.ts'
import { findAgents } from '../../graph/find-agents.ts'
import { jsonResponse } from '../../pages/list-response.ts'
import type { RecentSession } from '../../trace/recent-sessions.ts'
import { ATTRIBUTE, type Span } from '../../trace/span.ts'
import { spansOf } from '../../trace/spans.ts'
import { appOf, findSession, inSession } from '../scope.ts'

/** How many sessions are searched for an event. */
const MAX_SEARCHED = 20

/** Routes that show what happened in a session as spans. They are derived from the log. */
export function traceRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/dev/apps/:app/debug/trace/session/:session', async (context) => {
    const served = appOf(context, parts)
    const [recent] = visibleTo(context, served.recent.find(context.req.param('session')))
    const found = recent && (await findIn(served, recent, parts).catch(ifGone))
    if (!found) return context.json([])
    const { responseBytes: maxBytes } = parts.limits
    const text = JSON.stringify(spansOf(found, { models: modelsOf(served), maxBytes }))
    if (text.length > maxBytes) throw new ToolwrightError('TOO_LARGE', `The trace has more than ${maxBytes} bytes.`)
    return jsonResponse(text)
  })

  app.get('/dev/apps/:app/debug/trace/:event', async (context) => {
    const served = appOf(context, parts)
    const eventId = context.req.param('event')
    for (const recent of visibleTo(context, served.recent.find()).slice(0, MAX_SEARCHED)) {
      const session = await findIn(served, recent, parts).catch(ifGoneOrTooLong)
      const invocationId = session?.events.find(({ id }) => id === eventId)?.invocationId
      if (!session || invocationId === undefined) continue
      const events = session.events.filter((event) => event.invocationId === invocationId)
      const options = { models: modelsOf(served), maxBytes: parts.limits.responseBytes }
      const span = spansOf({ ...session, events }, options).find((one) => isOf(one, eventId))
      if (span) return context.json({ ...span.attributes, ...recordedRequest(context, served, recent, eventId) })
    }
    throw new ToolwrightError('NOT_FOUND', `There is no span of event "${eventId}" in the latest sessions.`)
  })
}

/** The request as the model got it, for who may read instructions. */
function recordedRequest(context: RequestContext, app: ServedApp, session: RecentSession, eventId: string): object {
  const { mayActAsAnyUser } = context.get('principal')
  const text = mayActAsAnyUser ? app.modelCalls?.find(session, eventId) : undefined
  return text === undefined ? {} : { [ATTRIBUTE.llmRequest]: JSON.stringify(JSON.parse(text).request) }
}

function visibleTo(context: RequestContext, sessions: readonly RecentSession[]): readonly RecentSession[] {
  const principal = context.get('principal')
  return sessions.filter(({ userId }) => principal.mayActAsAnyUser || principal.userId === userId)
}

function findIn(app: ServedApp, { userId, sessionId }: RecentSession, parts: ServerParts): Promise<Session> {
  return findSession(inSession({ app, appName: app.name, userId }, sessionId), parts)
}

/** The latest sessions may be deleted. */
function ifGone(error: unknown): undefined {
  if (error instanceof ToolwrightError && error.code === 'NOT_FOUND') return undefined
  throw error
}

/** One that is too long to be read does not hide the others. */
function ifGoneOrTooLong(error: unknown): undefined {
  if (error instanceof ToolwrightError && error.code === 'TOO_LARGE') return undefined
  return ifGone(error)
}

function modelsOf({ runner }: ServedApp): ReadonlyMap<string, string> {
  const models = new Map<string, string>()
  for (const { agent, above } of findAgents(runner.agent).values()) {
    const model = [agent, ...above].map(modelName).find((name) => name !== undefined)
    if (model !== undefined) models.set(agent.name, model)
  }
  return models
}

function isOf({ attributes }: Span, eventId: string): boolean {
  return attributes[ATTRIBUTE.event] === eventId
}
