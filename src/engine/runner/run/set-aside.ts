// Sessions whose processes die again and again: a worker leaves them alone, and says why.
import type { Lease } from '../../../services/session/service.ts'
import type { HeldSession } from '../session/held-session.ts'
import type { RunFactory } from './run-factory.ts'
import type { Unattended } from './run-request.ts'

/** No worker continues the session: its processes have died too often. The message is the reason. */
export class SetAside extends Error {}

/** Throws `SetAside` if too many processes have died with the session. */
export function throwIfCrashing({ lease, view }: HeldSession, { maxCrashes }: Unattended): void {
  const { crashes = 0 } = lease
  if (crashes < maxCrashes) return
  const calls = view.open().flatMap(({ fold }) => [...fold.calls.values()])
  const tools = new Set(calls.filter(({ response }) => !response).map(({ name }) => `"${name}"`))
  const open = tools.size > 0 ? ` Open calls: ${[...tools].slice(0, MAX_TOOLS).join(', ')}.` : ''
  throw new SetAside(`${crashes} processes in a row died while they continued the session.${open}`)
}

/** The most tools that a reason names. */
const MAX_TOOLS = 5

/** Releases the session so that no worker finds it until it is claimed again. */
export async function setAside(
  { services }: RunFactory,
  lease: Lease,
  held: HeldSession | undefined,
  { message: reason }: SetAside,
): Promise<void> {
  const { sessionService, logger } = services
  held?.leave()
  await sessionService.release(lease, { setAside: reason, interrupted: true })
  logger.error(`Session "${lease.key.sessionId}" is set aside. ${reason} runner.resume() tries again.`)
}
