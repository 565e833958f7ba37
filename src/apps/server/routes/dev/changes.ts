import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Hono } from 'hono'
import type { Runner } from '../../../../engine/runner/runner.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import { streamQuota } from '../../guard/quotas.ts'
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
}

/** Streams that pending requests or a log have changed. The stream is open until the client, or the server, closes it. */
export function changeRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  const quota = streamQuota(parts)
  app.get('/dev/changes', quota, (context) => streamChanges(context, parts))
  app.get(`/dev${SESSION}/changes`, quota, (context) => streamChanges(context, parts, sessionScope(context, parts)))
}

function streamChanges(context: RequestContext, parts: ServerParts, session?: SessionScope): Promise<Response> {
  const left = new AbortController()
  const stop = (): void => left.abort()
  const read = async (): Promise<ChangeFrame> => {
    const pending = await readPending(context, parts)
    return session ? { pending, lastSeq: await readLastSeq(session) } : { pending }
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
  return createHash('sha256').update(JSON.stringify(all)).digest('base64url')
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
