// Tells Restate where the workers of a version are.
import { isRecord } from '../../core/base/json.ts'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import { parseJson } from './parse-json.ts'

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

/** What to register. */
interface Registration {
  /** The address of the worker. */
  readonly uri: URL
  /** The services that it has. */
  readonly services: readonly string[]
}

/** Registers an address. Restate asks it for its services; an address that it knows stays as it is. */
export async function register(admin: URL, { uri, services }: Registration, send: typeof fetch): Promise<void> {
  const body = JSON.stringify({ uri: String(uri) })
  const headers = { 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(REGISTER_MS)
  let response: Response
  let text: string
  try {
    response = await send(new URL('deployments', admin), { method: 'POST', headers, body, redirect: 'error', signal })
    text = await response.text()
  } catch (cause) {
    throw failed(admin, messageOf(cause), cause)
  }
  if (response.status === 409) throw registeredByOthers(uri, `Restate at ${admin.origin} says: ${text.slice(0, 1_000)}`)
  if (!response.ok) throw failed(admin, `${response.status} ${text.slice(0, 1_000)}`)
  const known = servicesIn(text)
  if (!known) throw failed(admin, 'its answer lists no services. Is it the admin API of Restate?')
  const missing = services.find((service) => !known.has(service))
  if (missing !== undefined) throw registeredByOthers(uri, `Restate at ${admin.origin} knows no "${missing}" there.`)
}

/** The names of the services that a deployment has, in the answer of Restate. */
function servicesIn(text: string): ReadonlySet<unknown> | undefined {
  const answer = parseJson(text)
  if (!isRecord(answer) || !Array.isArray(answer.services)) return undefined
  return new Set(answer.services.map((service: unknown) => (isRecord(service) ? service.name : undefined)))
}

function registeredByOthers(uri: URL, reason: string): ToolwrightError {
  const problem = `${uri} is registered with the services of another version`
  const next = 'Give the workers of each version an address of their own'
  return new ToolwrightError('ALREADY_EXISTS', `${problem}. ${next}. ${reason}`)
}

function failed({ origin }: URL, reason: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('UNAVAILABLE', `The worker could not be registered at ${origin}: ${reason}`, { cause })
}
