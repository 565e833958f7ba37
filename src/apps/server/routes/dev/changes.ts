import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Hono } from 'hono'
import type { Runner } from '../../../../engine/runner/runner.ts'
import type { SessionService } from '../../../../services/session/service.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import { streamQuota } from '../../guard/quotas.ts'
import { actingUser, checkAnyUser } from '../../principal/authentication.ts'
import { findCandidates } from '../../search/candidates.ts'
import { eventStream } from '../../stream/event-stream.ts'
import { SESSION, type SessionScope, sessionScope } from '../scope.ts'

/** How often the stores are read. Other processes write to them, too. */
const POLL_MS = 1_000
/** A frame is sent after this many reads without a change, so that the client notices a lost connection. */
const QUIET_READS = 10

/** What a client must read again if it differs from the frame before. */
interface ChangeFrame {
  /** Identifies the set of pending requests. */
  readonly pending: string
  /** The number of the last entry of the log of the session; 0 if there is no log. */
  readonly lastSeq?: number
  /** Identifies the latest sessions of the list that the client names, and how they are doing. */
  readonly sessions?: string
}

/** How many of the latest sessions a client sees change. */
const WATCHED_SESSIONS = 50

/** Streams that pending requests, a log or a list of sessions have changed. The stream is open until the client, or the server, closes it. */
export function changeRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  const quota = streamQuota(parts)
  app.get('/dev/changes', quota, (context) => streamChanges(context, parts))
  app.get(`/dev${SESSION}/changes`, quota, (context) => streamChanges(context, parts, sessionScope(context, parts)))
}

function streamChanges(context: RequestContext, parts: ServerParts, session?: SessionScope): Promise<Response> {
  const list = listScope(context, parts)
  const left = new AbortController()
  const stop = (): void => left.abort()
  const read = async (): Promise<ChangeFrame> => {
    return {
      pending: await readPending(context, parts),
      ...(session && { lastSeq: await readLastSeq(session) }),
      ...(list && { sessions: await summarizeSessions(list) }),
    }
  }
  const frames = changesOf(read, AbortSignal.any([left.signal, parts.closing]))
  return eventStream(context, parts, { frames, onDisconnect: stop, onStall: stop })
}

async function* changesOf(read: () => Promise<ChangeFrame>, signal: AbortSignal): AsyncGenerator<ChangeFrame, void> {
  let last = ''
  let quiet = 0
  while (!signal.aborted) {
    const frame = await read()
    const text = JSON.stringify(frame)
    if (text !== last || ++quiet >= QUIET_READS) {
      last = text
      quiet = 0
      yield frame
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => {}) // the loop ends
  }
}

/** Only a principal that may act as any user sees the requests of all users. */
async function readPending(context: RequestContext, { apps }: ServerParts): Promise<string> {
  if (!context.get('principal').mayActAsAnyUser) return ''
  const all = await Promise.all(apps.all().map(({ runner }) => summarize(runner)))
  return hashOf(all)
}

interface ListScope {
  readonly service: SessionService
  readonly appName: string
  readonly userId: string | undefined
}

/** The list of sessions in the query: `app`, and `user` unless the list has the sessions of all users. */
function listScope(context: RequestContext, { apps }: ServerParts): ListScope | undefined {
  const app = context.req.query('app')
  if (app === undefined) return undefined
  const userId = context.req.query('user')
  if (userId === undefined) checkAnyUser(context, 'follow the sessions of all users')
  else actingUser(context, userId)
  const { name, runner } = apps.get(app)
  return { service: runner.sessionService, appName: name, userId }
}

/** A session gets its title with the first entry of its log. */
async function summarizeSessions({ service, appName, userId }: ListScope): Promise<string> {
  const { items } = await findCandidates(service, { appName, userId }, { limit: WATCHED_SESSIONS })
  const shown = items.map(({ userId: owner, sessionId, lastSeq, state }) => [owner, sessionId, lastSeq > 0, state])
  return hashOf(shown)
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

/** Identifies the pending requests of an app. They are not read, if the store can count them. */
async function summarize(runner: Runner): Promise<unknown> {
  const { appName, sessionService } = runner
  if (sessionService.pendingSummary) return await sessionService.pendingSummary({ appName })
  return (await runner.pending()).map(({ sessionId, id }) => [sessionId, id])
}

async function readLastSeq({ key, app: { runner } }: SessionScope): Promise<number> {
  return (await runner.sessionService.readLog?.({ ...key, limit: 0 }))?.lastSeq ?? 0
}
