// What a server that refuses a stored token gets: more scopes, another token, or an error.
import { describe, expect, test } from 'vitest'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { FakeWeb, ISSUER, SERVER_URL } from './fake-web.test-kit.ts'

const MISSING_WRITE = 'Bearer error="insufficient_scope", scope="write"'

function tokenOf(changes: AuthCredential['oauth2'] = {}, requestedScopes = ['read']): AuthCredential {
  return {
    authType: 'oauth2',
    oauth2: { accessToken: 't1', refreshToken: 'r1', ...changes },
    custom: { issuedAt: 1, issuer: ISSUER, resource: SERVER_URL, requestedScopes },
  }
}

/** A web in which a user has a stored token. */
async function webWith(credential: AuthCredential) {
  const web = new FakeWeb()
  const { credentialKey: key = '' } = await web.discover()
  const row = { appName: 'app', userId: 'ada', key }
  await web.credentialService.save({ ...row, credential })
  return { web, stored: async () => (await web.credentialService.load(row))?.credential }
}

describe('a missing scope', () => {
  test('is requested together with the scopes of the stored token', async () => {
    const { web, stored } = await webWith(tokenOf())
    const config = await web.discover({ challenge: MISSING_WRITE, credential: tokenOf() })
    expect(config).toMatchObject({ scopes: ['read', 'write'], requiredScopes: ['write'] })
    expect(await stored(), 'the token stays for other calls').toEqual(tokenOf())
  })

  test('is requested together with earlier scopes of the caller', async () => {
    const config = await new FakeWeb().discover({ challenge: MISSING_WRITE, earlierScopes: ['list'] })
    expect(config.scopes).toEqual(['list', 'write'])
  })

  test('that was requested before ends with an error: no consent can help', async () => {
    const token = tokenOf({}, ['read', 'write'])
    const { web } = await webWith(token)
    for (const credential of [token, undefined]) {
      await expect(web.discover({ challenge: MISSING_WRITE, credential })).rejects.toThrow(
        'refuses a token for a missing scope, although the token was requested with "write"',
      )
    }
  })

  test('without a name ends with an error', async () => {
    const { web } = await webWith(tokenOf())
    await expect(web.discover({ challenge: 'Bearer error="insufficient_scope"' })).rejects.toThrow('all scopes')
  })

  test('that another call has got in the meantime is no error', async () => {
    const { web } = await webWith(tokenOf({ accessToken: 't2' }, ['read', 'write']))
    const config = await web.discover({ challenge: MISSING_WRITE, credential: tokenOf() })
    expect(config.requiredScopes).toEqual(['write'])
  })
})

describe('a refused token', () => {
  test('is marked as expired, so that it is refreshed', async () => {
    const { web, stored } = await webWith(tokenOf())
    await web.discover({ credential: tokenOf() })
    expect(await stored()).toEqual(tokenOf({ expiresAt: 0 }))
  })

  test('is deleted if it cannot be refreshed', async () => {
    const { refreshToken: _none, ...oauth2 } = tokenOf().oauth2 ?? {}
    const token = { ...tokenOf(), oauth2 }
    const { web, stored } = await webWith(token)
    await web.discover({ credential: token })
    expect(await stored()).toBeUndefined()
  })

  test('that another call has replaced leaves the new token as it is', async () => {
    const { web, stored } = await webWith(tokenOf({ accessToken: 't2' }))
    await web.discover({ credential: tokenOf() })
    await web.discover()
    expect(await stored()).toEqual(tokenOf({ accessToken: 't2' }))
  })
})
