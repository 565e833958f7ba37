import { expect, test } from 'vitest'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { checkAuthConfig } from './check-auth-config.ts'
import { credentialKeyOf } from './credential-key.ts'

const CONFIG: AuthConfig = {
  provider: 'github',
  scopes: ['repo', 'gist'],
  rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'desk', clientSecret: 'first' } },
}
const keyOf = (config: AuthConfig): Promise<string> => credentialKeyOf(checkAuthConfig(config, 'Tool "repo"'))
const client = (clientId: string, clientSecret: string): AuthConfig => ({
  ...CONFIG,
  rawAuthCredential: { authType: 'oauth2', oauth2: { clientId, clientSecret } },
})

test('credentialKeyOf() returns an explicit key as it is', async () => {
  expect(await keyOf({ ...CONFIG, credentialKey: 'my-github' })).toBe('my-github')
})

test('credentialKeyOf() digests scheme, client, provider and scopes', async () => {
  const key = await keyOf(CONFIG)
  expect(key).toMatch(/^adk_oauth2_[0-9a-f]{32}$/)
  expect(await keyOf({ ...CONFIG, scopes: ['gist', 'repo'] }), 'scopes in another order').toBe(key)
  expect(await keyOf(client('desk', 'rotated')), 'a rotated client secret').toBe(key)
  expect(await keyOf(client('other', 'first')), 'another client').not.toBe(key)
  expect(await keyOf({ ...CONFIG, scopes: ['repo'] }), 'other scopes').not.toBe(key)
  expect(await keyOf({ ...CONFIG, provider: 'slack' }), 'another provider').not.toBe(key)
  const flow = { authorizationUrl: 'https://git.example.com/authorize', tokenUrl: 'https://git.example.com/token' }
  const authScheme = { type: 'oauth2' as const, flows: { authorizationCode: flow } }
  expect(await keyOf({ ...CONFIG, authScheme }), 'other endpoints').not.toBe(key)
})
