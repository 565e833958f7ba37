// A lock in the credential service: of all processes with the same store, one requests a token at a time.
import { isRecord } from '../../../core/base/json.ts'
import { failureText, quoteKey, reportProblem } from '../auth-failure.ts'
import { type AuthRecord, deleteRecord, loadRecord, lockKeyOf, saveRecord } from '../auth-records.ts'
import type { AuthServices } from '../auth-services.ts'

/** After this time, in milliseconds, the holder of a lock counts as dead. A holder gives up its request before. */
export const LOCK_MS = 30_000

/** A request under a lock may take this long, in milliseconds. It ends before its lock does. */
export const REQUEST_MS: number = LOCK_MS - 5_000

const POLL_MS = 100

/** A lock that this process holds. */
interface RefreshLock {
  /** The key of the lock's row. */
  readonly lockKey: string
  /** The generation of the lock's row. */
  readonly generation: number
}

/** A lock that another process holds. */
interface ForeignLock {
  /** The generation of its row. Undefined if the lock was taken in this moment. */
  readonly heldAs: number | undefined
}

/** Takes the lock of a key if it is free or its holder is dead. `deadLock` is a lock that was watched until its end. */
export async function takeLock(
  services: AuthServices,
  key: string,
  deadLock?: number | undefined,
): Promise<RefreshLock | ForeignLock> {
  const lockKey = lockKeyOf(key)
  const { now, newId } = services.ports
  const found = await loadRecord(services, lockKey)
  if (found && found.generation !== deadLock && isHeld(found, now())) return { heldAs: found.generation }
  const generation = await saveRecord(services, {
    key: lockKey,
    credential: { authType: 'refreshLock', custom: { holder: newId(), expiresAt: now() + LOCK_MS } },
    expectedGeneration: found?.generation ?? 0,
  })
  return generation === undefined ? { heldAs: undefined } : { lockKey, generation }
}

/** Gives the lock back, unless another process has taken it over. A failure is reported: the lock then expires. */
export async function releaseLock(services: AuthServices, lock: RefreshLock): Promise<void> {
  try {
    await deleteRecord(services, { key: lock.lockKey, expectedGeneration: lock.generation })
  } catch (error) {
    reportProblem(services, `The refresh lock ${quoteKey(lock.lockKey)} was not released. ${failureText(error)}`)
  }
}

/** Waits before the next look at a lock. Returns the milliseconds, jittered so that waiting processes do not meet. */
export async function waitForLock({ ports }: Pick<AuthServices, 'ports'>): Promise<number> {
  const ms = POLL_MS * (0.5 + ports.random())
  await new Promise<void>((resolve) => void ports.setTimer(resolve, ms))
  return ms
}

function isHeld({ credential }: AuthRecord, now: number): boolean {
  if (!isRecord(credential) || credential.authType !== 'refreshLock' || !isRecord(credential.custom)) return false
  const { expiresAt } = credential.custom
  return typeof expiresAt === 'number' && expiresAt > now
}
