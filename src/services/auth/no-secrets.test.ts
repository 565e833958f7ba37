// Secrets that are pushed through every way of resolving and consenting appear in nothing that a client, a model or an
// operator sees.
import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import { InMemoryCredentialService } from '../credential/in-memory.ts'
import { createTestServices, SharedStore, type TestServices } from './auth-services.test-kit.ts'
import type { AuthServices } from './auth-services.ts'
import { checkAuthConfig } from './config/check-auth-config.ts'
import { beginConsent, completeConsent } from './consent/begin-consent.ts'
import { completeOpenConsent } from './consent/complete-open-consent.ts'
import { openConsent } from './consent/open-consent.ts'
import { readConsentAnswer } from './consent/read-consent-answer.ts'
import { resolveCredential } from './resolve-credential.ts'

const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
const id = 'https://id.example'
const url = { authorizationUrl: `${id}/auth`, tokenUrl: `${id}/token` }
const client = { clientId: 'desk', clientSecret: 'canary-01', redirectUri: 'https://app.example/' }

const json = (body: object, status: number): Response => Response.json(body, { status })
const leak = (secret: string): object => ({ error: secret, error_description: secret, access_token: [secret] })

/** Servers and networks that repeat what they were sent, and more. */
const FETCHES: readonly (readonly [string, typeof fetch])[] = [
  [
    'a network error that quotes the request',
    async (input, init) => {
      const quoted = `${String(input)} ${init?.body} ${[...new Headers(init?.headers)]} canary-02`
      throw Object.assign(new TypeError(quoted, { cause: new Error(quoted) }), { request: quoted })
    },
  ],
  ['a refusal', async (_input, init) => json(leak(`canary-03 ${init?.body}`), 400)],
  ['a final refusal', async () => json({ error: 'invalid_grant', error_description: 'canary-04' }, 400)],
  ['a refused client', async () => json({ error: 'canary-05' }, 401)],
  ['an invalid token', async () => json({ access_token: 'canary-06\n', token_type: 'bearer' }, 200)],
  ['an invalid token type', async () => json({ access_token: 'canary-07', token_type: 'canary-07' }, 200)],
  ['HTML', async () => new Response('<b>canary-08</b>', { headers: { 'content-type': 'text/html' } })],
  ['a redirect', async () => new Response(null, { status: 302, headers: { location: `${id}/?secret=canary-09` } })],
]

const expired: AuthCredential = {
  authType: 'oauth2',
  oauth2: { accessToken: 'canary-10', refreshToken: 'canary-11', idToken: 'canary-12', expiresAt: 1 },
}
const account = { clientEmail: 'robot@desk.example', privateKey: `${PEM}`, tokenUri: `${id}/token`, scopes: ['mail'] }
const configs: readonly AuthConfig[] = [
  {
    authScheme: { type: 'oauth2', flows: { authorizationCode: url } },
    rawAuthCredential: {
      authType: 'oauth2',
      oauth2: { ...client, authCode: 'canary-13', codeVerifier: `canary-18${'x'.repeat(40)}` },
    },
  },
  {
    authScheme: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${id}/token?key=canary-14` } } },
    rawAuthCredential: { authType: 'oauth2', oauth2: client },
  },
  {
    authScheme: { type: 'openIdConnect', openIdConnectUrl: `${id}/.well-known/openid-configuration` },
    rawAuthCredential: { authType: 'openIdConnect', oauth2: client },
  },
  {
    authScheme: { type: 'serviceAccount' },
    rawAuthCredential: { authType: 'serviceAccount', serviceAccount: account },
  },
  {
    authScheme: { type: 'custom', name: 'vault', note: 'canary-15' },
    rawAuthCredential: { authType: 'vault', custom: { secret: 'canary-16' } },
  },
  { authScheme: { type: 'apiKey', in: 'query', name: 'key' }, credentialKey: 'mail' },
]

const exchangers: AuthServices['exchangers'] = {
  vault: async ({ authConfig, stored }) => {
    throw new Error(`canary-17 ${JSON.stringify([authConfig, stored])}`)
  },
}

/** Everything that can be read of a value: members, causes, stacks. */
const textOf = (value: unknown): string => inspect(value, { depth: 12, showHidden: true, maxStringLength: null })

const settle = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

test.each(FETCHES)('no secret appears in outcomes, errors and reports after %s', async (_name, fetch) => {
  const seen: unknown[] = []
  for (const config of configs) {
    for (const row of [undefined, expired, { authType: 'apiKey', oauth2: { accessToken: 'canary-18' } }]) {
      const services = createTestServices({ fetch, exchangers })
      if (row) await services.credentialService.save({ appName: 'shop', userId: 'ada', key: 'mail', credential: row })
      const outcome = await resolveCredential(services, 'mail', checkAuthConfig(config, 'the test'))
      // A resolved credential is for the tool only.
      seen.push(outcome.status === 'ready' ? outcome.status : outcome, services.reports)
    }
  }
  seen.push(...(await consent(createTestServices({ fetch }))))
  expect(textOf(seen)).not.toContain('canary')
  expect(textOf(seen)).not.toContain('PRIVATE KEY')
  expect(textOf(seen)).toContain('could not be resolved')
})

test.each(['load', 'save', 'delete'] as const)(
  'no secret appears if the store quotes its rows on %s',
  async (failing) => {
    const seen: unknown[] = []
    for (const config of configs) {
      const store = new SharedStore(new InMemoryCredentialService())
      const services = createTestServices({ credentialService: store, exchangers, fetch: FETCHES[2]?.[1] })
      await store.save({ appName: 'shop', userId: 'ada', key: 'mail', credential: expired })
      store.before = (operation) => {
        if (operation === failing) throw new Error('canary-19 (row)', { cause: { detail: 'canary-20' } })
      }
      seen.push(await settle(resolveCredential(services, 'mail', checkAuthConfig(config, 'the test'))))
      seen.push(...(await consent(services)), services.reports)
    }
    expect(textOf(seen)).not.toContain('canary')
    expect(textOf(seen)).toContain(failing)
  },
)

/** Opens and answers consents, and returns all that the client and the operator see. */
async function consent(services: TestServices): Promise<unknown[]> {
  const authConfig: AuthConfig = {
    authScheme: { type: 'oauth2', flows: { authorizationCode: url } },
    rawAuthCredential: { authType: 'oauth2', oauth2: client },
  }
  const config = checkAuthConfig(authConfig, 'the test')
  const shown = (await settle(openConsent(services, { id: 'r1', key: 'mail', config }))) as AuthConfig
  const state = shown.exchangedAuthCredential?.oauth2?.state ?? ''
  const answers = [
    { code: 'canary-code', state: 'canary-state' },
    { code: 'canary-code', state, redirectUri: 'https://canary.example/' },
    { code: 'canary-code', state },
    { code: 'canary-other', state },
  ]
  const seen: unknown[] = [shown]
  for (const answer of answers) {
    const read = readConsentAnswer(answer)
    if (!read) throw new Error('The answer was not read.')
    seen.push(await settle(completeOpenConsent(services, { id: 'r1', answer: read, allowedRedirectUris: [] })))
  }
  const { appName, userId, credentialService, fetch } = services
  const flow = { appName, userId, credentialService, fetch, authConfig }
  const begun = (await settle(beginConsent({ ...flow, key: 'mail' }))) as { authUri?: string; flowId?: string }
  const callback = `https://app.example/?code=canary-code&state=${new URL(begun.authUri ?? id).searchParams.get('state')}`
  seen.push(begun, services.reports)
  for (const authResponseUri of [callback, `${callback}canary`, 'canary']) {
    seen.push(await settle(completeConsent({ ...flow, flowId: begun.flowId ?? 'none', authResponseUri })))
  }
  return seen
}
