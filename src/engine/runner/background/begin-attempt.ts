import type { SessionKey } from '../../../services/session/service.ts'
import { attemptRecord, type PostedAttempt } from '../inbox/posted-attempts.ts'
import type { RunFactory } from '../run/run-factory.ts'
import { withHeld } from '../run/settle-session.ts'
import { claimIfFree } from '../session/leases.ts'
import type { UnheldLog } from './unheld-log.ts'

/** An attempt to run the body of a background call. */
export type Attempt = Omit<PostedAttempt, 'type' | 'seq'>

/** What came of an attempt to begin. */
export type Beginning =
  /** The log has the attempt: the body may run. */
  | 'begun'
  /** The call has its result, or was ended. */
  | 'over'
  /** Another attempt was recorded first. */
  | 'outrun'
  /** The signal has aborted. */
  | 'interrupted'

/** How long to wait for the holder of the session, in milliseconds, before the log is read again. */
const RETRY_MS = 250

/**
 * Records an attempt, before its body runs: this process claims the session for a moment, or the holder records it. From then on the
 * body may have taken effect, whatever happens to this process.
 */
export async function beginAttempt(
  log: UnheldLog,
  attempt: Attempt,
  { factory, signal }: { readonly factory: RunFactory; readonly signal: AbortSignal },
): Promise<Beginning> {
  const { key } = log
  const { ports } = factory.services
  for (let isPosted = false; ; isPosted = true) {
    const hasResult = isPosted ? await recordIfFree(factory, key, attempt) : await recordOrPost(factory, key, attempt)
    if (hasResult || !(await log.read())) return 'over'
    const found = log.find(attempt.callId)
    if (!found) return 'over'
    const latest = found.call.background?.engine?.attempt?.id
    if (latest === attempt.id) return 'begun'
    if (latest !== attempt.after) return 'outrun'
    if (signal.aborted) return 'interrupted'
    await new Promise<void>((resolve) => void ports.setTimer(resolve, RETRY_MS))
  }
}

/** Records the attempt, or posts it to the holder of the session. True: the result of the call is posted. */
async function recordOrPost(factory: RunFactory, key: SessionKey, attempt: Attempt): Promise<boolean> {
  const { sessionService, ports } = factory.services
  const free = await claimIfFree(sessionService, key)
  if (free) return free.lease ? await record(factory, free.lease, attempt) : false
  await sessionService.post(key, { type: 'attempt', postedAt: ports.now(), ...attempt })
  const [holder] = factory.running.of(key)
  await holder?.drainInbox().catch(() => undefined) // it is ending
  return false
}

/** Records the attempt that is posted, if the holder has gone. */
async function recordIfFree(factory: RunFactory, key: SessionKey, attempt: Attempt): Promise<boolean> {
  const free = await claimIfFree(factory.services.sessionService, key)
  return free?.lease ? await record(factory, free.lease, attempt) : false
}

type Lease = Parameters<typeof withHeld>[1]

function record(factory: RunFactory, lease: Lease, attempt: Attempt): Promise<boolean> {
  return withHeld(factory, lease, async (held) => {
    const items = await held.inbox()
    const wanted = attemptRecord(held.view, attempt, items)
    const drained = items.flatMap(({ id }) => (id === attempt.id ? [id] : []))
    if (wanted || drained.length > 0) await held.append(wanted ? [{ record: wanted }] : [], drained)
    return items.some((item) => item.type === 'result' && item.callId === attempt.callId)
  })
}
