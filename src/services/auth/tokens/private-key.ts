// The private key of a service account, from its PEM text to a key that signs.

/** Completes "privateKey must be ...". */
export const PEM_FORMAT = 'a PKCS#8 private key in PEM format'

const PEM = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/

/** What is wrong with the text of a private key, and what to do. Undefined if it is a PKCS#8 key. */
export function pemProblem(pem: string): string | undefined {
  if (pem.includes('BEGIN RSA PRIVATE KEY'))
    return 'It is a PKCS#1 key ("BEGIN RSA PRIVATE KEY"). Convert it with: openssl pkcs8 -topk8 -nocrypt -in key.pem'
  if (pem.includes('BEGIN ENCRYPTED PRIVATE KEY'))
    return 'It is encrypted. Decrypt it with: openssl pkcs8 -topk8 -nocrypt -in key.pem'
  if (!PEM.test(unescapeLines(pem)))
    return 'Copy it whole, from "-----BEGIN PRIVATE KEY-----" to "-----END PRIVATE KEY-----".'
  return undefined
}

/** Imports a private key for RS256 signatures. Throws if it is not a PKCS#8 RSA key; the error contains nothing of it. */
export async function importPrivateKey(pem: string): Promise<CryptoKey> {
  const problem = pemProblem(pem)
  if (problem !== undefined) throw new Error(`privateKey must be ${PEM_FORMAT}. ${problem}`)
  try {
    return await importKey(pem, ALGORITHM)
  } catch {
    throw new Error(`privateKey must be ${PEM_FORMAT}. It is damaged, or it is not an RSA key.`)
  }
}

/** Imports a private key that signs the token requests of a client: RSA, P-256, P-384 or Ed25519. Throws without its text. */
export async function importSigningKey(pem: string): Promise<CryptoKey> {
  for (const algorithm of [ALGORITHM, ...CURVES]) {
    const key = await importKey(pem, algorithm).catch(() => undefined)
    if (key) return key
  }
  throw new Error(`privateKey must be ${PEM_FORMAT}. ${pemProblem(pem) ?? 'It is damaged, or of another kind.'}`)
}

async function importKey(pem: string, algorithm: KeyAlgorithmName): Promise<CryptoKey> {
  const [, base64 = ''] = PEM.exec(unescapeLines(pem)) ?? []
  const bytes = Uint8Array.from(atob(base64.replace(/\s/g, '')), (character) => character.charCodeAt(0))
  return await crypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign'])
}

type KeyAlgorithmName = Parameters<typeof crypto.subtle.importKey>[2]

const CURVES = [{ name: 'ECDSA', namedCurve: 'P-256' }, { name: 'ECDSA', namedCurve: 'P-384' }, { name: 'Ed25519' }]

const ALGORITHM = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

/** Signs a text with RS256. */
export function signText(key: CryptoKey, text: string): Promise<ArrayBuffer> {
  return crypto.subtle.sign(ALGORITHM.name, key, new TextEncoder().encode(text))
}

/** Environment variables hold line breaks as the two characters `\n`. */
function unescapeLines(pem: string): string {
  return pem.replaceAll('\\n', '\n')
}
