// Tells Restate where the workers of a version are.
import { messageOf, ToolwrightError } from '../../core/error/error.ts'

/** How long Restate may take to ask the worker for its services, in milliseconds. */
const REGISTER_MS = 30_000

/** How long to try, in milliseconds: a balancer takes a moment until it sends requests to a new worker. */
const TRY_MS = 60_000
const AGAIN_MS = 250

/** Registers an address, as soon as Restate can reach it. */
export async function registerWhenReachable(
  admin: URL,
  uri: URL,
  { send, signal }: { readonly send: typeof fetch; readonly signal: AbortSignal },
): Promise<void> {
  const until = performance.now() + TRY_MS
  for (;;) {
    try {
      await register(admin, uri, send)
      return
    } catch (error) {
      const isFinal = !(error instanceof ToolwrightError) || error.code !== 'UNAVAILABLE'
      if (isFinal || signal.aborted || performance.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
}

/** Registers an address. Restate asks it for its services; an address that it knows stays as it is. */
async function register(admin: URL, uri: URL, send: typeof fetch): Promise<void> {
  const body = JSON.stringify({ uri: String(uri) })
  const headers = { 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(REGISTER_MS)
  let response: Response
  try {
    response = await send(new URL('deployments', admin), { method: 'POST', headers, body, signal })
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
