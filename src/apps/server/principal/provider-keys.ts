import type { JWTVerifyGetKey } from 'jose'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { loadPeer } from '../../../core/error/load-peer.ts'
import { isLoopbackHost } from '../guard/allowed-hosts.ts'

const FETCH_TIMEOUT_MS = 5_000
const MAX_BYTES = 1_000_000

/** How long a failure of the provider is the answer to all requests, in milliseconds. Then the provider is asked again. */
const RETRY_MS = 5_000

/** The public keys of an identity provider. Each error of the provider is `UNAVAILABLE`. */
export class ProviderKeys {
  readonly #issuer: string
  readonly #fetchUrl: typeof fetch
  readonly #ports: Pick<Ports, 'monotonicNow'>
  #keys: Promise<JWTVerifyGetKey> | undefined
  #failure: { readonly cause: unknown; readonly at: number } | undefined

  constructor(issuer: string, fetchUrl: typeof fetch = fetch, ports: Pick<Ports, 'monotonicNow'> = systemPorts) {
    this.#issuer = issuer
    this.#fetchUrl = fetchUrl
    this.#ports = ports
  }

  /** Looks the address of the keys up once. The keys are fetched when they are needed. */
  get(): Promise<JWTVerifyGetKey> {
    this.#keys ??= this.#find().catch((error) => {
      this.#keys = undefined
      throw error
    })
    return this.#keys
  }

  async #find(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await loadJose()
    const address = `${this.#issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const { jwks_uri: keysAddress } = await this.#fetchJson(address, (metadata) => {
      if (metadata.issuer !== this.#issuer || typeof metadata.jwks_uri !== 'string')
        throw new Error(`it is not the metadata of "${this.#issuer}". Use the issuer exactly as the provider writes it`)
      checkAddress('jwks_uri', metadata.jwks_uri)
    })
    const fetchKeys = async (url: string): Promise<Response> => Response.json(await this.#fetchJson(url, checkKeys))
    return createRemoteJWKSet(new URL(String(keysAddress)), { [customFetch]: fetchKeys })
  }

  /** Fetches an object that `check` accepts. After a failure the provider is left alone for a while. */
  async #fetchJson(url: string, check: (json: JsonObject) => void): Promise<JsonObject> {
    const now = this.#ports.monotonicNow()
    const { cause, at } = this.#failure ?? { at: Number.NEGATIVE_INFINITY }
    if (now - at < RETRY_MS) throw new ProviderUnavailable(cause, at + RETRY_MS - now)
    try {
      const json = await this.#read(url)
      check(json)
      this.#failure = undefined
      return json
    } catch (error) {
      const failure = new Error(`${url} cannot be used: ${messageOf(error)}`, { cause: error })
      this.#failure = { cause: failure, at: this.#ports.monotonicNow() }
      throw new ProviderUnavailable(failure, RETRY_MS)
    }
  }

  async #read(url: string): Promise<JsonObject> {
    const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS)
    const response = await this.#fetchUrl(url, { redirect: 'error', signal })
    if (!response.ok) throw new Error(`the status is ${response.status}`)
    const json: unknown = JSON.parse(await readText(response))
    if (!isRecord(json)) throw new Error('it is not a JSON object')
    return json
  }
}

/** The provider does not answer, or its answer cannot be used. */
class ProviderUnavailable extends ToolwrightError {
  constructor(cause: unknown, retryMs: number) {
    super('UNAVAILABLE', `oidc(): the identity provider is not available. ${messageOf(cause)}`, {
      cause,
      retryAfterMs: retryMs,
    })
  }
}

function checkKeys({ keys }: JsonObject): void {
  if (!Array.isArray(keys) || !keys.every(isRecord)) throw new Error('it has no list of keys')
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** The library that verifies tokens. */
export function loadJose(): Promise<typeof import('jose')> {
  return loadPeer('jose', () => import('jose'))
}

/** Keys and metadata need https; a provider on this machine may use http. */
export function checkAddress(name: string, address: string): void {
  const url = URL.parse(address)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))
  if (!isSafe) throw invalidOidc(`${name} must be an https address, got "${address}"`)
}

/** An error of the developer. */
export function invalidOidc(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `oidc(): ${problem}.`)
}
