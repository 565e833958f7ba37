import { createVerify, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { systemPorts } from '../../../core/base/ports.ts'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { checkAuthConfig } from '../config/check-auth-config.ts'
import type { Tokens } from './oauth-tokens.ts'
import { requestServiceAccountToken } from './service-account.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const NOW = 1_800_000_000

type Account = NonNullable<AuthCredential['serviceAccount']>
type Json = Record<string, unknown>

interface TokenServer {
  readonly tokenUri: string
  /** Header and claims of the requests whose signature is valid. */
  readonly requests: { readonly header: Json; readonly claims: Json }[]
}

/** A token endpoint that checks the signature, and issues what the claims ask for. */
async function startTokenServer(): Promise<TokenServer> {
  const requests: TokenServer['requests'] = []
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
    const [header = '', claims = '', signature = ''] = form.get('assertion')?.split('.') ?? []
    const isSigned = createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(publicKey, signature, 'base64url')
    const isGrant = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    response.setHeader('content-type', 'application/json')
    if (!isSigned || !isGrant) return response.writeHead(400).end('{"error":"invalid_request"}')
    requests.push({ header: decode(header), claims: decode(claims) })
    const idToken = `e30.${Buffer.from(JSON.stringify({ exp: NOW + 1800 })).toString('base64url')}.c2ln`
    const body = decode(claims).target_audience ? { id_token: idToken } : { access_token: 'ya29.a', expires_in: 3599 }
    return response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { tokenUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`, requests }
}

function decode(part: string): Json {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}

function request(account: Partial<Account>, send?: typeof fetch): Promise<Tokens> {
  const serviceAccount = { clientEmail: 'robot@desk.example', privateKey: PEM, ...account }
  const config = checkAuthConfig(
    { authScheme: { type: 'serviceAccount' }, rawAuthCredential: { authType: 'serviceAccount', serviceAccount } },
    'Tool "mail"',
  )
  return requestServiceAccountToken({ ports: { ...systemPorts, now: () => NOW * 1000 }, fetch: send }, config)
}

test('requestServiceAccountToken() signs a JWT and gets an access token for its scopes', async () => {
  const { tokenUri, requests } = await startTokenServer()
  const tokens = await request({ tokenUri, scopes: ['mail.read', 'mail.send'], privateKeyId: 'k1' })
  expect(tokens).toEqual({ accessToken: 'ya29.a', expiresAt: NOW + 3599 })
  const scope = 'mail.read mail.send'
  const claims = { iss: 'robot@desk.example', aud: tokenUri, scope, iat: NOW, exp: NOW + 3600 }
  expect(requests).toEqual([{ header: { alg: 'RS256', typ: 'JWT', kid: 'k1' }, claims }])
})

test('requestServiceAccountToken() gets an id token for a target audience, with the expiry of the id token', async () => {
  const { tokenUri, requests } = await startTokenServer()
  const tokens = await request({ tokenUri, targetAudience: 'https://api.example.com' })
  expect(tokens).toEqual({ idToken: expect.any(String), expiresAt: NOW + 1800 })
  expect(requests[0]?.claims).toMatchObject({ target_audience: 'https://api.example.com' })
})

test('requestServiceAccountToken() reads a private key whose line breaks are escaped', async () => {
  const { tokenUri } = await startTokenServer()
  const tokens = await request({ tokenUri, scopes: ['a'], privateKey: PEM.replaceAll('\n', '\\n') })
  expect(tokens.accessToken).toBe('ya29.a')
})

test('requestServiceAccountToken() sends requests to Google by default', async () => {
  const urls: string[] = []
  const send: typeof fetch = async (url) => {
    urls.push(String(url))
    return Response.json({ access_token: 'a' })
  }
  expect(await request({ scopes: ['a'] }, send)).toEqual({ accessToken: 'a', expiresAt: NOW + 3600 })
  expect(urls).toEqual(['https://oauth2.googleapis.com/token'])
})

test('requestServiceAccountToken() is refused with a key of another account', async () => {
  const { tokenUri } = await startTokenServer()
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  await expect(request({ tokenUri, scopes: ['a'], privateKey: String(other) })).rejects.toThrow('"invalid_request"')
})

test('requestServiceAccountToken() names the kind of key it needs, without the key', async () => {
  const { privateKey: elliptic } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = elliptic.export({ type: 'pkcs8', format: 'pem' }).toString()
  const error = await request({ scopes: ['a'], privateKey: pem }).catch((thrown: unknown) => thrown)
  expect(String(error)).toContain(
    'could not be signed: privateKey must be a PKCS#8 private key in PEM format. It is damaged, or it is not an RSA key.',
  )
  expect(String(error)).not.toContain(pem.split('\n')[1])
})

test('requestServiceAccountToken() fails for a response without a token', async () => {
  const send: typeof fetch = async () => Response.json({ id_token: 'a' })
  await expect(request({ scopes: ['a'] }, send)).rejects.toThrow('has no access token')
  const empty: typeof fetch = async () => Response.json({ access_token: 'a' })
  await expect(request({ targetAudience: 'a' }, empty)).rejects.toThrow('has no id token')
})
