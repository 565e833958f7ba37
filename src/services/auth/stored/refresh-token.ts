// One request per token. A second refresh with the same refresh token makes a server with reuse detection end all tokens
// of the consent. Calls in one process share one request. Processes take turns with a lock, and re-read the token.
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { AuthCredential } from '../../../core/content/auth.ts'
import type { CredentialService } from '../../credential/service.ts'
import { AuthError } from '../auth-error.ts'
import { quoteKey } from '../auth-failure.ts'
import { type AuthRecord, loadRecord, recordId } from '../auth-records.ts'
import type { AuthServices } from '../auth-services.ts'
import { LOCK_MS, REQUEST_MS, releaseLock, takeLock, waitForLock } from './refresh-lock.ts'
import { saveTokens } from './save-tokens.ts'

/** The result of a token request. */
type TokenResult =
  /** The token was requested and stored. */
  | { readonly type: 'stored'; readonly credential: AuthCredential }
  /** Another writer has changed the stored credential. Load it again. */
  | { readonly type: 'changed' }
  /** Another call or process is requesting the token, and this one does not wait. */
  | { readonly type: 'busy' }
  /** There is nothing to request, for example because the code was used before. */
  | { readonly type: 'none' }
  /** The request or the store failed. */
  | { readonly type: 'failed'; readonly error: unknown }

/** A token to request. */
interface TokenNeed {
  /** The key of the credential. */
  readonly key: string
  /** The row that was loaded. If another one is stored now, no request is sent. */
  readonly seen: AuthRecord | undefined
  /** Wait for a request of another call or process? False if the stored token is still valid. */
  readonly waits: boolean
  /** Requests the token. Undefined if there is nothing to request. */
  request(): Promise<AuthCredential | undefined>
  /** Called while the lock is held, after a request that failed. */
  onFailure?(error: unknown): Promise<void>
}

/** A call waits this long for other processes, in milliseconds. */
const MAX_WAIT_MS = 2 * LOCK_MS

const requestsOf = new WeakMap<CredentialService, Map<string, Promise<TokenResult>>>()

/** Requests and stores a token, once for all calls and processes that need it at the same time. Never throws. */
export function requestOnce(services: AuthServices, need: TokenNeed): Promise<TokenResult> {
  const running = requestsOf.get(services.credentialService) ?? new Map<string, Promise<TokenResult>>()
  requestsOf.set(services.credentialService, running)
  const id = recordId(services, need.key)
  const found = running.get(id)
  if (found) return need.waits ? found : Promise.resolve({ type: 'busy' })
  const started = requestWithLock(services, need)
    .catch((error: unknown): TokenResult => ({ type: 'failed', error }))
    .finally(() => running.delete(id))
  running.set(id, started)
  return started
}

async function requestWithLock(services: AuthServices, need: TokenNeed): Promise<TokenResult> {
  let watched: { readonly generation: number | undefined; readonly since: number } | undefined
  for (let waited = 0; waited < MAX_WAIT_MS; waited += await waitForLock(services)) {
    if (waited > 0 && (await hasChanged(services, need))) return { type: 'changed' }
    // A lock that does not change for its whole life is dead, whatever time its holder has written into it.
    const isDead = watched !== undefined && waited - watched.since >= LOCK_MS
    const lock = await takeLock(services, need.key, isDead ? watched?.generation : undefined)
    if ('generation' in lock) {
      try {
        return await requestLocked(services, need)
      } finally {
        await releaseLock(services, lock)
      }
    }
    if (!need.waits) return { type: 'busy' }
    if (watched?.generation !== lock.heldAs || !watched) watched = { generation: lock.heldAs, since: waited }
  }
  throw new AuthError(
    `Other processes held the refresh lock of ${quoteKey(need.key)} for ${MAX_WAIT_MS} ms. Try again.`,
  )
}

async function requestLocked(services: AuthServices, need: TokenNeed): Promise<TokenResult> {
  if (await hasChanged(services, need)) return { type: 'changed' }
  let credential: AuthCredential | undefined
  try {
    credential = await withTimeout(need.request(), REQUEST_MS, services.ports, () => {
      throw new AuthError(`The token request for ${quoteKey(need.key)} took longer than ${REQUEST_MS} ms. Try again.`)
    })
  } catch (error) {
    await need.onFailure?.(error)
    return { type: 'failed', error }
  }
  if (credential === undefined) return { type: 'none' }
  const expectedGeneration = need.seen?.generation ?? 0
  const isSaved = await saveTokens(services, { key: need.key, credential, expectedGeneration })
  return isSaved ? { type: 'stored', credential } : { type: 'changed' }
}

async function hasChanged(services: AuthServices, { key, seen }: TokenNeed): Promise<boolean> {
  return (await loadRecord(services, key))?.generation !== seen?.generation
}
