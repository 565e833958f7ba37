import type { Hono } from 'hono'
import { ToolwrightError } from '../../../../core/error/error.ts'
import type { Entry, Event } from '../../../../core/event/event.ts'
import type { SessionKey, SessionService } from '../../../../services/session/service.ts'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { userScope } from '../scope.ts'

const MAX_SESSIONS = 20
/** A log starts with the first message. A session that was created with state may have an event before it. */
export const START: { readonly fromSeq: number; readonly limit: number; readonly maxBytes: number } = {
  fromSeq: 1,
  limit: 5,
  maxBytes: 100_000,
}
const MAX_CHARACTERS = 200

/** The start of the first message of sessions, which names a session that has no name. */
export function firstMessageRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/dev/apps/:app/users/:user/first-messages', async (context) => {
    const { app: served, appName, userId } = userScope(context, parts)
    const ids = context.req.queries('session') ?? []
    if (ids.length > MAX_SESSIONS)
      throw new ToolwrightError('INVALID_REQUEST', `Name at most ${MAX_SESSIONS} sessions. Send several requests.`)
    const messages: { sessionId: string; text: string }[] = []
    for (const sessionId of ids) {
      const text = await firstMessage(served.runner.sessionService, { appName, userId, sessionId })
      if (text !== undefined) messages.push({ sessionId, text })
    }
    return context.json({ messages })
  })
}

/** Undefined if the session does not exist, or does not start with a text. */
async function firstMessage(service: SessionService, key: SessionKey): Promise<string | undefined> {
  return firstTextIn((await service.readLog?.({ ...key, ...START }))?.entries ?? [])
}

/** The start of the first text of a user in the first entries of a log. */
export function firstTextIn(entries: readonly Entry[]): string | undefined {
  for (const { event } of entries) {
    const text = event && textOf(event)
    if (text) return text.slice(0, MAX_CHARACTERS)
  }
  return undefined
}

function textOf({ author, content }: Event): string | undefined {
  if (author !== 'user') return undefined
  return content?.parts.find(({ text = '' }) => text.trim() !== '')?.text?.trim()
}
