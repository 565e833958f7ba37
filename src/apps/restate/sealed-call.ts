// Calls of our services carry a signature: every client that reaches Restate can call them, and Restate does not name the caller.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'

/** What a call is for. A signature counts for nothing else. */
export interface CallTarget {
  /** The service. */
  readonly service: string
  /** The key of the object. */
  readonly key: string
  /** The handler. */
  readonly handler: string
}

/** A call with its signature, as it is sent and as Restate stores it. */
export interface SealedCall {
  /** Different for each call, so that a call that is sent twice takes effect once. */
  readonly id: string
  /** The input of the handler, as JSON. */
  readonly body: string
  /** When the signature ends, in milliseconds since the epoch. */
  readonly expires: number
  /** HMAC-SHA-256 of the target, the id, the end and the body, in base64url. */
  readonly signature: string
}

/** How long a call counts: workers may be away when it is sent. */
const LIFETIME_MS = 7 * 86_400_000

/** Signs the input of a handler. `now`: when the handler starts, in milliseconds since the epoch. */
export function sealCall(secret: string, target: CallTarget, input: JsonObject, now: number): SealedCall {
  const unsigned = { id: randomUUID(), body: JSON.stringify(input), expires: now + LIFETIME_MS }
  return { ...unsigned, signature: sign(secret, target, unsigned) }
}

/** A call whose signature is valid. */
export interface OpenedCall {
  /** The same each time the call is sent. */
  readonly id: string
  /** The input of the handler. */
  readonly input: JsonObject
}

/** Checks the signature of a call. Throws UNAUTHENTICATED unless it is signed for this target, and EXPIRED if it no longer counts. */
export function openCall(secret: string, target: CallTarget, call: unknown, now: number): OpenedCall {
  const { id, body, expires, signature } = isRecord(call) ? call : {}
  if (
    typeof id !== 'string' ||
    typeof body !== 'string' ||
    typeof expires !== 'number' ||
    typeof signature !== 'string'
  )
    throw new ToolwrightError('UNAUTHENTICATED', 'The call has no signature. Send what sealCall() returns.')
  const expected = Buffer.from(sign(secret, target, { id, body, expires }))
  const given = Buffer.from(signature)
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new ToolwrightError(
      'UNAUTHENTICATED',
      'The signature is not valid. Sign with the secret of the workers, for this service, key and handler.',
    )
  if (now > expires) throw new ToolwrightError('EXPIRED', 'The signature of the call has expired. Sign the call again.')
  return { id, input: JSON.parse(body) as JsonObject } // signed by a holder of the secret
}

function sign(
  secret: string,
  { service, key, handler }: CallTarget,
  { id, body, expires }: Omit<SealedCall, 'signature'>,
): string {
  const text = JSON.stringify([service, key, handler, id, expires, body])
  return createHmac('sha256', secret).update(text).digest('base64url')
}

/** Throws INVALID_CONFIG for a secret that can be guessed. */
export function checkSecret(secret: unknown): asserts secret is string {
  if (typeof secret === 'string' && secret.length >= MIN_SECRET) return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `restate: \`secret\` must have at least ${MIN_SECRET} characters, the same in all processes. Make one with: openssl rand -hex 32`,
  )
}

const MIN_SECRET = 32
