import type { SessionKey } from '../../../services/session/service.ts'
import { attemptRecord, findEngineCall, type PostedAttempt } from '../inbox/posted-attempts.ts'
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
  const { ports } = factory.services
  const call = { key: log.key, invocationId: log.find(attempt.callId)?.fold.invocationId, attempt }
  for (let isPosted = false; ; isPosted = true) {
    const isOver = isPosted ? await recordIfFree(factory, call) : await recordOrPost(factory, call)
    if (isOver || !(await log.read())) return 'over'
    const found = log.find(attempt.callId)
    if (!found) return 'over'
    const latest = found.call.background?.engine?.attempt?.id
    if (latest === attempt.id) return 'begun'
    if (latest !== attempt.after) return 'outrun'
    if (signal.aborted) return 'interrupted'
    await new Promise<void>((resolve) => void ports.setTimer(resolve, RETRY_MS))
  }
}

/** A call as the worker has read it, and an attempt to run it. */
interface Attempted {
  readonly key: SessionKey
  readonly invocationId: string | undefined
  readonly attempt: Attempt
}

/** Records the attempt, or posts it to the holder of the session. True: nothing is left to run. */
async function recordOrPost(factory: RunFactory, call: Attempted): Promise<boolean> {
  const { key, attempt } = call
  const { sessionService, ports } = factory.services
  const free = await claimIfFree(sessionService, key)
  if (free) return free.lease ? await record(factory, free.lease, call) : false
  await sessionService.post(key, { type: 'attempt', postedAt: ports.now(), ...attempt })
  const [holder] = factory.running.of(key)
  await holder?.drainInbox().catch(() => undefined) // it is ending
  return false
}

/** Records the attempt that is posted, if the holder has gone. */
async function recordIfFree(factory: RunFactory, call: Attempted): Promise<boolean> {
  const free = await claimIfFree(factory.services.sessionService, call.key)
  return free?.lease ? await record(factory, free.lease, call) : false
}

type Lease = Parameters<typeof withHeld>[1]

/** True: the result of the call is posted, or its session was deleted, and another one has a call with its id. */
function record(factory: RunFactory, lease: Lease, { attempt, invocationId }: Attempted): Promise<boolean> {
  return withHeld(factory, lease, async (held) => {
    const items = await held.inbox()
    const isOther = findEngineCall(held.view, attempt.callId)?.fold.invocationId !== invocationId
    const wanted = isOther ? undefined : attemptRecord(held.view, attempt, items)
    const drained = items.flatMap(({ id }) => (id === attempt.id ? [id] : []))
    if (wanted || drained.length > 0) await held.append(wanted ? [{ record: wanted }] : [], drained)
    return isOther || items.some((item) => item.type === 'result' && item.callId === attempt.callId)
  })
}
