import type { MiddlewareHandler } from 'hono'
import type { ServerEnv, ServerParts } from '../env.ts'
import { SESSION, SESSIONS } from '../routes/scope.ts'
import { WorkQueue } from './work-queue.ts'

/** Routes whose responses may be large. */
export const READ_ROUTES: readonly string[] = [
  SESSIONS,
  SESSION,
  `${SESSION}/events`,
  `${SESSION}/artifacts`,
  `${SESSION}/artifacts/*`,
  '/apps/:app/users/:user/pending',
  '/apps/:app/pending',
  '/apps/:app/users/:user/memory',
  '/apps/:app/fleet',
  '/metrics',
]

/** Those of a server with `dev`. */
export const DEV_READ_ROUTES: readonly string[] = [
  '/dev/apps/:app/pending',
  '/dev/apps/:app/sessions',
  '/dev/apps/:app/users',
  '/dev/apps/:app/debug/trace/*',
  '/dev/apps/:app/users/:user/memory',
  '/dev/apps/:app/users/:user/first-messages',
  `/dev${SESSION}/log`,
  `/dev${SESSION}/model-calls/*`,
  `/dev${SESSION}/fork`,
  `/dev${SESSION}/events/*`,
]

/** How many responses of one principal the server makes, and holds until the client has read them, at the same time. */
const MAX_READS = 2

/** Smaller responses are not worth waiting for their clients. */
const LARGE_BYTES = 1_000_000

/** Limits the memory that the reads of one principal take: a few at a time, the others wait. A large one lasts until it is sent. */
export function readQuota(_: ServerParts): MiddlewareHandler<ServerEnv> {
  const queue = new WorkQueue(MAX_READS)
  return async (context, next) => {
    const end = await queue.take(context.get('principal').userId)
    let isSending = false
    try {
      await next()
      const outgoing = context.env?.outgoing
      if (outgoing && Number(context.res.headers.get('content-length')) > LARGE_BYTES) {
        isSending = true
        outgoing.once('close', end)
      }
    } finally {
      if (!isSending) end()
    }
  }
}
