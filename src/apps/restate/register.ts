// Tells Restate where the workers of a version are.
import { messageOf, ToolwrightError } from '../../core/error/error.ts'

/** How long Restate may take to ask the worker for its services, in milliseconds. */
const REGISTER_MS = 30_000

/** Registers an address. Restate asks it for its services; an address that it knows stays as it is. */
export async function register(admin: URL, uri: URL, send: typeof fetch): Promise<void> {
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
  throw failed(admin, `${uri} is registered with the services of another version. ${next}. ${text}`)
}

function failed({ origin }: URL, reason: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('UNAVAILABLE', `The worker could not be registered at ${origin}: ${reason}`, { cause })
}
