// The state of a pending call, which a 2026-07-28 client holds between two rounds. AES-256-GCM encrypts it and binds it to
// the app, the user, the tool and the arguments: it cannot be read, changed, or used for another call.
import { encodeBase64 } from '../../../core/base/base64.ts'
import { canonicalJson, isRecord } from '../../../core/base/json.ts'
import { decodeKeys } from '../../../services/credential/key-ring.ts'

/** A pending call, as its sealed state describes it. */
interface PendingState {
  /** The session of the call. */
  readonly sessionId: string
  /** The ids of the pending requests, by the key under which the client answers them. */
  readonly requests: { readonly [key: string]: string }
  /** Milliseconds since the epoch. The state is refused from then on. */
  readonly expiresAt: number
}

/** What a state is bound to. */
export interface StateBinding {
  /** The app of the server. */
  readonly appName: string
  /** The user of the call. */
  readonly userId: string
  /** The tool. */
  readonly tool: string
  /** The arguments as the client sent them. */
  readonly args: unknown
}

/** Seals and opens the state of pending calls. */
export class RequestStates {
  readonly #key: Promise<CryptoKey>
  readonly #now: () => number

  /** `stateKey`: base64 of 32 bytes. Default: a random key, so a state is valid in this process only. */
  constructor(stateKey: string | undefined, now: () => number) {
    const bytes =
      stateKey === undefined
        ? crypto.getRandomValues(new Uint8Array(32))
        : (decodeKeys([stateKey], 'stateKey of serveMcp()')[0] as Uint8Array<ArrayBuffer>)
    this.#key = crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
    this.#now = now
  }

  /** Seals a state. */
  async seal(state: PendingState, binding: StateBinding): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
    const plain = new TextEncoder().encode(JSON.stringify(state))
    const encrypted = await crypto.subtle.encrypt(cipher(iv, binding), await this.#key, plain)
    const sealed = new Uint8Array(NONCE_BYTES + encrypted.byteLength)
    sealed.set(iv)
    sealed.set(new Uint8Array(encrypted), NONCE_BYTES)
    return encodeBase64(sealed)
  }

  /** Opens a state. Undefined if it was changed, has expired or belongs to another call: the caller learns no reason. */
  async open(sealed: string, binding: StateBinding): Promise<PendingState | undefined> {
    try {
      const bytes = Uint8Array.from(atob(sealed), (character) => character.charCodeAt(0))
      const iv = bytes.subarray(0, NONCE_BYTES)
      const plain = await crypto.subtle.decrypt(cipher(iv, binding), await this.#key, bytes.subarray(NONCE_BYTES))
      const state: unknown = JSON.parse(new TextDecoder().decode(plain))
      return isPendingState(state) && state.expiresAt > this.#now() ? state : undefined
    } catch {
      return undefined
    }
  }
}

const NONCE_BYTES = 12

function cipher(iv: Uint8Array<ArrayBuffer>, { appName, userId, tool, args }: StateBinding): AesGcmParams {
  const bound = canonicalJson(['toolwright-mcp-1', appName, userId, tool, args ?? {}])
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(bound) }
}

function isPendingState(value: unknown): value is PendingState {
  return (
    isRecord(value) && typeof value.sessionId === 'string' && isRecord(value.requests) && Number(value.expiresAt) > 0
  )
}
