import type { Hono } from 'hono'
import { ToolwrightError } from '../../../error/error.ts'
import type { Session } from '../../../session/service.ts'
import type { ServedApp } from '../../apps.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import { modelName } from '../../graph/describe-agents.ts'
import { findAgents } from '../../graph/find-agents.ts'
import type { RecentSession } from '../../trace/recent-sessions.ts'
import { ATTRIBUTE, type Span } from '../../trace/span.ts'
import { spansOf } from '../../trace/spans.ts'
import { appOf } from '../scope.ts'

/** How many sessions are searched for an event. */
const MAX_SEARCHED = 20

/** Routes that show what happened in a session as spans. They are derived from the log. */
export function traceRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/dev/apps/:app/debug/trace/session/:session', async (context) => {
    const served = appOf(context, parts)
    const [found] = await sessionsIn(served, visibleTo(context, served.recent.find(context.req.param('session'))))
    return context.json(found ? spansOf(found, modelsOf(served)) : [])
  })

  app.get('/dev/apps/:app/debug/trace/:event', async (context) => {
    const served = appOf(context, parts)
    const eventId = context.req.param('event')
    const recent = visibleTo(context, served.recent.find()).slice(0, MAX_SEARCHED)
    const session = (await sessionsIn(served, recent)).find(({ events }) => events.some(({ id }) => id === eventId))
    const span = session && spansOf(session, modelsOf(served)).find((one) => isOf(one, eventId))
    if (!span) throw new ToolwrightError('NOT_FOUND', `There is no span of event "${eventId}" in the latest sessions.`)
    return context.json(span.attributes)
  })
}

function visibleTo(context: RequestContext, sessions: readonly RecentSession[]): readonly RecentSession[] {
  const principal = context.get('principal')
  return sessions.filter(({ userId }) => principal.mayActAsAnyUser || principal.userId === userId)
}

async function sessionsIn({ name, runner }: ServedApp, recent: readonly RecentSession[]): Promise<Session[]> {
  const read = recent.map((key) => runner.sessionService.getSession({ appName: name, ...key }))
  return (await Promise.all(read)).filter((session) => session !== undefined)
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
