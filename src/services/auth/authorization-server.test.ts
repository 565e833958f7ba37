import * as oauth from 'oauth4webapi'
import { expect, test } from 'vitest'
import { type AuthorizationServer, startAuthorizationServer } from './authorization-server.test-kit.ts'
import { UserAgent } from './user-agent.test-kit.ts'

test('the authorization server of the tests issues, rotates and revokes tokens', async () => {
  await using server = await startAuthorizationServer()
  const user = new UserAgent()
  const verifier = oauth.generateRandomCodeVerifier()
  const { as, url } = await discover(server, verifier)
  const callback = await user.consent(url)
  expect(new URL(callback).searchParams.get('iss')).toBe(server.issuer)
  const client = { client_id: server.clientId }
  const parameters = oauth.validateAuthResponse(as, client, new URL(callback), 'the-state')
  const authentication = oauth.ClientSecretBasic(server.clientSecret)
  const http = { [oauth.allowInsecureRequests]: true }
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    authentication,
    parameters,
    server.redirectUri,
    verifier,
    http,
  )
  const first = await oauth.processAuthorizationCodeResponse(as, client, response)
  expect(await server.useToken(first.access_token)).toBe(200)
  const refresh = (token: string | undefined) =>
    oauth.refreshTokenGrantRequest(as, client, authentication, token ?? '', http)
  const second = await oauth.processRefreshTokenResponse(as, client, await refresh(first.refresh_token))
  expect(second.refresh_token).not.toBe(first.refresh_token)
  await server.revoke(second.refresh_token ?? '')
  expect((await refresh(second.refresh_token)).status).toBe(400)
  expect(await server.useToken(second.access_token)).toBe(401)
  expect(server.countTokenRequests('refresh_token')).toBe(2)
  expect(server.tokenRequests.map((one) => one.error)).toEqual([undefined, undefined, 'invalid_grant'])
})

test('the user agent of the tests declines a consent', async () => {
  await using server = await startAuthorizationServer()
  const { url } = await discover(server, oauth.generateRandomCodeVerifier())
  const callback = new URL(await new UserAgent().decline(url))
  expect(callback.searchParams.get('error')).toBe('access_denied')
})

async function discover(
  server: AuthorizationServer,
  verifier: string,
): Promise<{ as: oauth.AuthorizationServer; url: string }> {
  const http = { [oauth.allowInsecureRequests]: true }
  const issuer = new URL(server.issuer)
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, http))
  const url = new URL(as.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    client_id: server.clientId,
    redirect_uri: server.redirectUri,
    response_type: 'code',
    scope: 'openid offline_access',
    prompt: 'consent',
    state: 'the-state',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  return { as, url: url.href }
}
