import type { Hono } from 'hono'
import { ToolwrightError } from '../../../../core/error/error.ts'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { readNumber } from '../../wire/read-body.ts'
import { writeEntry } from '../../wire/write-entry.ts'
import { SESSION, sessionScope } from '../scope.ts'

const MAX_ENTRIES = 1000

/** Reads the whole log of a session, records included. */
export function logRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get(`/dev${SESSION}/log`, async (context) => {
    const { key, app: served } = sessionScope(context, parts)
    const fromSeq = readNumber(context, 'fromSeq', 1)
    const limit = Math.min(readNumber(context, 'limit', MAX_ENTRIES), MAX_ENTRIES)
    const { sessionService } = served.runner
    if (!sessionService.readLog) {
      throw new ToolwrightError(
        'NOT_FOUND',
        'The session service of the app has no readLog(), so its logs are not shown.',
      )
    }
    const maxBytes = Math.ceil(parts.limits.responseBytes / 4) // the last entry may have as many bytes again
    const page = await sessionService.readLog({ ...key, fromSeq, limit, maxBytes })
    if (!page) throw new ToolwrightError('NOT_FOUND', `This user has no session "${key.sessionId}".`)
    return context.json({ entries: page.entries.map(writeEntry), lastSeq: page.lastSeq })
  })
}
