// Claims the leases of sessions.
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ClaimOptions, Lease, SessionKey, SessionService } from '../../../services/session/service.ts'

/** Claims the lease. If the session does not exist, creates it if `create` is set, else returns undefined. */
export async function claimSession(
  sessions: SessionService,
  key: SessionKey,
  { create, options }: { readonly create: boolean; readonly options?: ClaimOptions | undefined },
): Promise<Lease | undefined> {
  try {
    return await sessions.claim(key, options)
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.code !== 'NOT_FOUND') throw error
    if (!create) return undefined
    await createUnlessExists(sessions, key)
    return await sessions.claim(key, options)
  }
}

/** Creates the session. Another run may have created it meanwhile. */
export async function createUnlessExists(sessions: SessionService, key: SessionKey): Promise<void> {
  try {
    await sessions.createSession(key)
  } catch (error) {
    if (!(error instanceof ToolwrightError) || error.code !== 'ALREADY_EXISTS') throw error
  }
}

/** Claims the lease of an existing session. Undefined while another run holds it; `lease` is undefined if there is no session. */
export async function claimIfFree(
  sessions: SessionService,
  key: SessionKey,
): Promise<{ readonly lease: Lease | undefined } | undefined> {
  try {
    return { lease: await claimSession(sessions, key, { create: false }) }
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'SESSION_BUSY') return undefined
    throw error
  }
}
