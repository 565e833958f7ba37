// Tells Restate where the workers of a version are.
import { messageOf, ToolwrightError } from '../../core/error/error.ts'

/** How long Restate may take to ask the worker for its services, in milliseconds. */
const REGISTER_MS = 30_000

/** How long to try, in milliseconds: a balancer takes a moment until it sends requests to a new worker. */
const TRY_MS = 60_000
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000

/** Repeats what fails with UNAVAILABLE, for a minute, or until the signal aborts. */
export async function whileUnavailable(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const until = performance.now() + TRY_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted || performance.now() > until) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Is Restate away, or is the worker not registered yet? */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ToolwrightError && error.code === 'UNAVAILABLE'
}

/** Registers an address. Restate asks it for its services; an address that it knows stays as it is. */
export async function register(admin: URL, uri: URL, send: typeof fetch): Promise<void> {
  const body = JSON.stringify({ uri: String(uri) })
  const headers = { 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(REGISTER_MS)
  let response: Response
  try {
    response = await send(new URL('deployments', admin), { method: 'POST', headers, body, redirect: 'error', signal })
  } catch (cause) {
    throw failed(admin, messageOf(cause), cause)
  }
  if (response.ok) {
    await response.body?.cancel()
    return
  }
  const text = (await response.text()).slice(0, 1_000)
  if (response.status !== 409) throw failed(admin, `${response.status} ${text}`)
  const next = 'Give the workers of each version an address of their own'
  const problem = `${uri} is registered with the services of another version`
  throw new ToolwrightError('ALREADY_EXISTS', `${problem}. ${next}. Restate at ${admin.origin} says: ${text}`)
}

function failed({ origin }: URL, reason: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('UNAVAILABLE', `The worker could not be registered at ${origin}: ${reason}`, { cause })
}
