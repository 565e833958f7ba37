import type { Hono } from 'hono'
import { jsonSize } from '../../../../core/base/json.ts'
import { systemPorts } from '../../../../core/base/ports.ts'
import { ToolwrightError } from '../../../../core/error/error.ts'
import type { Entry } from '../../../../core/event/event.ts'
import { type CallStats, LogStats, type StatsGroup } from '../../../../core/event/views/log-stats.ts'
import { readStoredLog } from '../../../../engine/runner/sessions/stored-log.ts'
import type { SessionKey, SessionService } from '../../../../services/session/service.ts'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { restAfter } from '../../guard/pace.ts'
import { sessionSource } from '../../pages/list-sources.ts'
import { readNumber } from '../../wire/read-body.ts'
import { userScope } from '../scope.ts'

/** Reading more of them would keep the reader waiting. */
const MOST = { sessions: 500, entries: 100_000, bytes: 100_000_000 }

/** How the tools of a user were used. */
export interface StatsResponse {
  /** The figures, the group with the most calls first. */
  readonly figures: readonly CallStats[]
  /** How many sessions they are from: those that were created last. */
  readonly sessions: number
  /** Whether there are more sessions than were read. */
  readonly hasMore: boolean
}

/** Figures about the calls of a user, from the logs of the sessions. */
export function statsRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get('/dev/apps/:app/users/:user/stats', async (context) => {
    const { app: served, appName, userId } = userScope(context, parts)
    const by = readGroup(context.req.query('by'))
    const since = readNumber(context, 'since', 0)
    const { signal } = context.req.raw
    const response = await readStats(served.runner.sessionService, { appName, userId }, { by, since, signal })
    return context.json(response satisfies StatsResponse)
  })
}

function readGroup(by = 'tool'): StatsGroup {
  if (by === 'tool' || by === 'agent' || by === 'model') return by
  throw new ToolwrightError('INVALID_REQUEST', 'The query parameter "by" must be tool, agent or model.')
}

interface Wanted {
  readonly by: StatsGroup
  /** Seconds since the epoch. */
  readonly since: number
  readonly signal: AbortSignal
}

async function readStats(
  service: SessionService,
  user: { readonly appName: string; readonly userId: string },
  { by, since, signal }: Wanted,
): Promise<StatsResponse> {
  const stats = new LogStats(by, since)
  const left = { ...MOST }
  let sessions = 0
  const source = sessionSource(service, { ...user, newestFirst: true }, () => true)
  for (let after: string | undefined; ; ) {
    const page = await source.read({ limit: 100, after })
    for (const { id, lastUpdateTime } of page.items) {
      if (signal.aborted) return { figures: [], sessions, hasMore: true }
      if (lastUpdateTime < since) continue
      if (left.sessions-- <= 0) return { figures: stats.figures(), sessions, hasMore: true }
      const entries = await readEntries(service, { ...user, sessionId: id }, left)
      if (!entries) return { figures: stats.figures(), sessions, hasMore: true }
      stats.addLog(entries, user.userId)
      sessions++
    }
    after = page.next
    if (after === undefined) return { figures: stats.figures(), sessions, hasMore: false }
  }
}

/** The log of a session. Undefined: too much is read already. */
async function readEntries(
  sessionService: SessionService,
  key: SessionKey,
  left: { entries: number; bytes: number },
): Promise<Entry[] | undefined> {
  const entries: Entry[] = []
  let start = performance.now()
  for await (const piece of readStoredLog(key, 1, { sessionService, ports: systemPorts })) {
    for (const entry of piece.entries) entries.push(entry)
    left.entries -= piece.entries.length
    left.bytes -= jsonSize(piece.entries, left.bytes)
    if (left.entries < 0 || left.bytes < 0) return undefined
    if (entries.length < piece.lastSeq) await restAfter(start)
    start = performance.now()
  }
  return entries
}
