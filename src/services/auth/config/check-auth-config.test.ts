import { describe, expect, test } from 'vitest'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { checkAuthConfig } from './check-auth-config.ts'

const CLIENT = { authType: 'oauth2', oauth2: { clientId: 'desk', clientSecret: 'canary-secret' } }
const CODE_FLOW = { authorizationUrl: 'https://auth.example.com/authorize', tokenUrl: 'https://auth.example.com/token' }
const PEM = '-----BEGIN PRIVATE KEY-----\nY2FuYXJ5\n-----END PRIVATE KEY-----\n'
const oauth2 = (flow: object): object => ({ type: 'oauth2', flows: { authorizationCode: { ...CODE_FLOW, ...flow } } })
const withOAuth2 = (members: object): object => ({
  authScheme: oauth2({}),
  rawAuthCredential: { ...CLIENT, oauth2: { ...CLIENT.oauth2, ...members } },
})
const withFlow = (flow: object): object => ({ authScheme: oauth2(flow), rawAuthCredential: CLIENT })
const withAccount = (account: object): object => ({
  authScheme: { type: 'serviceAccount' },
  rawAuthCredential: {
    authType: 'serviceAccount',
    serviceAccount: { clientEmail: 'a@b.example', privateKey: PEM, scopes: ['s'], ...account },
  },
})
const basic = (credentials: object): object => ({
  authScheme: { type: 'http', scheme: 'basic' },
  rawAuthCredential: { authType: 'http', http: { scheme: 'basic', credentials } },
})
const key = { type: 'apiKey', in: 'header', name: 'x-api-key' }

/** Tests pass what a JavaScript caller may pass. */
const check = (config: unknown): unknown => checkAuthConfig(config as AuthConfig, 'Tool "mail"')

describe('checkAuthConfig() accepts', () => {
  test.each<[string, object]>([
    ['an API key', { authScheme: key, rawAuthCredential: { authType: 'apiKey', apiKey: 'k' } }],
    ['an API key that the app stores', { authScheme: key, credentialKey: 'mail' }],
    ['the description of an OpenAPI scheme', { authScheme: { ...key, description: 'Key' }, credentialKey: 'mail' }],
    ['basic authentication', basic({ username: 'ada', password: '' })],
    ['a bearer token that the app stores', { authScheme: { type: 'http', scheme: 'bearer' }, credentialKey: 'mail' }],
    ['an OAuth client', withFlow({})],
    [
      'an OAuth client without a secret',
      { ...withFlow({}), rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'a' } } },
    ],
    [
      'endpoints on loopback addresses',
      withFlow({
        tokenUrl: 'http://127.0.0.2:80/t',
        refreshUrl: 'http://[::1]/t',
        authorizationUrl: 'http://localhost/a',
      }),
    ],
    ['a redirect URI of a native app', withOAuth2({ redirectUri: 'com.example.desk:/callback' })],
    ['a service account', withAccount({})],
    ['a private key whose line breaks are escaped', withAccount({ privateKey: PEM.replaceAll('\n', '\\n') })],
    ['a custom scheme with members of its own', { authScheme: { type: 'custom', name: 'hmac', rounds: 3 } }],
    ['its own result', check(withFlow({})) as object],
  ])('%s', (_, config) => {
    expect(() => check(config)).not.toThrow()
  })
})

test.each(['google', 'github', 'microsoft', 'slack', 'atlassian', 'salesforce'])(
  'checkAuthConfig() fills in the endpoints of %s',
  (provider) => {
    const { authScheme } = checkAuthConfig({ provider, scopes: ['a'], rawAuthCredential: CLIENT }, 'Tool "mail"')
    const flow = authScheme.type === 'oauth2' ? authScheme.flows.authorizationCode : undefined
    expect(flow?.authorizationUrl).toMatch(/^https:/)
    expect(flow?.tokenUrl).toMatch(/^https:/)
  },
)

test('checkAuthConfig() prefers the endpoints of authScheme to those of the provider', () => {
  const { authScheme } = checkAuthConfig({ ...withFlow({}), provider: 'github' } as AuthConfig, 'Tool "mail"')
  expect(authScheme).toEqual(oauth2({}))
})

describe('checkAuthConfig() refuses', () => {
  test.each<[string, unknown, string]>([
    [
      'a text instead of a configuration',
      'google',
      'Tool "mail": authConfig takes an object with options, got a string.',
    ],
    ['a misspelled member', { authSchema: key }, 'authConfig: unknown option "authSchema". Did you mean "authScheme"?'],
    [
      'a configuration without scheme and provider',
      {},
      'authConfig: authScheme is missing, got undefined. Set authScheme, or provider to one of google, github',
    ],
    ['a misspelled provider', { provider: 'gihtub' }, 'unknown provider "gihtub". Did you mean "github"?'],
    [
      'an unknown provider',
      { provider: 'acme' },
      "The known providers are google, github, microsoft, slack, atlassian, salesforce. For another provider set authScheme: { type: 'openIdConnect'",
    ],
    ['a provider called constructor', { provider: 'constructor' }, 'unknown provider "constructor"'],
    [
      'an unknown type of scheme',
      { authScheme: { type: 'oauth' } },
      'authConfig.authScheme: type must be "apiKey", "http", "oauth2", "openIdConnect", "serviceAccount" or "custom", got a string. Did you mean "oauth2"?',
    ],
    ['a scheme without a type', { authScheme: {} }, 'authConfig.authScheme: type is missing'],
    ['an unknown place of a key', { authScheme: { ...key, in: 'body' } }, 'in must be "header", "query" or "cookie"'],
    [
      'a header name with a line break',
      { authScheme: { ...key, name: 'x\r\ny' } },
      'name must be the name of a header',
    ],
    ['a scheme without a name', { authScheme: { type: 'apiKey', in: 'header' } }, 'authScheme: name is missing'],
    ['digest authentication', { authScheme: { type: 'http', scheme: 'digest' } }, 'scheme must be "basic" or "bearer"'],
    [
      'the implicit flow',
      { authScheme: { type: 'oauth2', flows: { implicit: {} } } },
      'the implicit flow is refused, because it puts the access token into the address of the browser, where history, logs and other pages can read it (RFC 9700). Use authorizationCode.',
    ],
    [
      'the password flow',
      { authScheme: { type: 'oauth2', flows: { password: {} } } },
      'the password flow is refused, because it gives the password of the user to this app (RFC 9700). Use authorizationCode.',
    ],
    [
      'an unknown flow',
      { authScheme: { type: 'oauth2', flows: { authorisationCode: {} } } },
      'Did you mean "authorizationCode"?',
    ],
    [
      'a scheme without flows',
      { authScheme: { type: 'oauth2', flows: {} } },
      'flows is empty. Set authorizationCode or clientCredentials.',
    ],
    [
      'a code flow without a consent page',
      { authScheme: { type: 'oauth2', flows: { authorizationCode: { tokenUrl: 'https://a.example' } } } },
      'flows.authorizationCode: authorizationUrl is missing',
    ],
    [
      'an http endpoint',
      withFlow({ tokenUrl: 'http://auth.example.com/token' }),
      'flows.authorizationCode: tokenUrl must be an https URL, or an http URL of a loopback address, got a string. Replace "http:" with "https:".',
    ],
    [
      'an endpoint that only looks like loopback',
      withFlow({ tokenUrl: 'http://127.0.0.1.example.com/t' }),
      'tokenUrl must be an https URL',
    ],
    [
      'an endpoint with a password',
      withFlow({ tokenUrl: 'https://ada:canary@auth.example.com/t' }),
      'Remove the user name and the password from the URL.',
    ],
    [
      'a relative endpoint',
      withFlow({ refreshUrl: '/token' }),
      'refreshUrl must be an https URL, or an http URL of a loopback address, got a string. It is not a URL.',
    ],
    [
      'scopes of a flow as a list',
      withFlow({ scopes: ['a'] }),
      'scopes must be an object from each scope to its description, got a list.',
    ],
    [
      'scopes in one text',
      { ...withFlow({}), scopes: 'a b' },
      'scopes must be a list of scopes, each a string without spaces, got a string. Put the scopes into a list',
    ],
    ['two scopes in one item', { ...withFlow({}), scopes: ['a b'] }, 'Use one item per scope.'],
    [
      'an http discovery document',
      { authScheme: { type: 'openIdConnect', openIdConnectUrl: 'http://id.example' } },
      'openIdConnectUrl must be an https URL',
    ],
    [
      'an API key without a key',
      { authScheme: key },
      'authConfig: rawAuthCredential is missing. Set it, or set credentialKey to the key under which the app stores it.',
    ],
    [
      'an OAuth scheme without a client',
      { authScheme: oauth2({}) },
      "rawAuthCredential is missing. Set it to { authType: 'oauth2', oauth2: { clientId, clientSecret } }.",
    ],
    [
      'a credential of another type',
      { authScheme: key, rawAuthCredential: CLIENT },
      'rawAuthCredential: authType must be "apiKey", got a string.',
    ],
    [
      'a misspelled client id',
      withOAuth2({ clientid: 'a' }),
      'rawAuthCredential.oauth2: unknown option "clientid". Did you mean "clientId"?',
    ],
    [
      'a client without an id',
      { authScheme: oauth2({}), rawAuthCredential: { authType: 'oauth2', oauth2: { clientSecret: 'canary' } } },
      'rawAuthCredential.oauth2: clientId is missing',
    ],
    [
      'a client secret from an environment variable that is not set',
      withOAuth2({ clientSecret: '' }),
      'got a string. It is empty. If it comes from an environment variable, set the variable.',
    ],
    [
      'a client secret with a line break',
      withOAuth2({ clientSecret: 'canary\n' }),
      'clientSecret must be a string without line breaks that is not empty, got a string.',
    ],
    [
      'client credentials without a secret',
      {
        authScheme: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://a.example' } } },
        rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'a' } },
      },
      'clientSecret is missing',
    ],
    [
      'a redirect URI with a script',
      withOAuth2({ redirectUri: 'javascript:alert(1)' }),
      'redirectUri must be an absolute URL without a fragment',
    ],
    [
      'a user name with a colon',
      basic({ username: 'a:b', password: 'c' }),
      'username must be a user name without a colon',
    ],
    ['basic authentication without a password', basic({ username: 'ada' }), 'http.credentials: password is missing'],
    [
      'a basic credential for a bearer scheme',
      { ...basic({ username: 'a', password: 'b' }), authScheme: { type: 'http', scheme: 'bearer' } },
      'http: scheme must be "bearer"',
    ],
    [
      'a PKCS#1 key',
      withAccount({ privateKey: PEM.replaceAll('PRIVATE', 'RSA PRIVATE') }),
      'privateKey must be a PKCS#8 private key in PEM format, got a string. It is a PKCS#1 key ("BEGIN RSA PRIVATE KEY"). Convert it with: openssl pkcs8',
    ],
    ['a part of a private key', withAccount({ privateKey: 'canary' }), 'Copy it whole'],
    ['a service account without scopes', withAccount({ scopes: [] }), 'scopes and targetAudience are missing'],
    [
      'an http token URI of a service account',
      withAccount({ tokenUri: 'http://a.example/t' }),
      'tokenUri must be an https URL',
    ],
    [
      'a key of open consents',
      { authScheme: key, credentialKey: 'consent:1' },
      'credentialKey must be a string of 1 to 256 characters that does not start with "consent:", "refresh:" or "oauth-client:"',
    ],
    ['a key of refresh locks', { authScheme: key, credentialKey: 'refresh:1' }, 'credentialKey must be'],
    [
      'a null credential',
      { authScheme: key, rawAuthCredential: null },
      'rawAuthCredential must be an object, got null.',
    ],
  ])('%s', (_, config, message) => {
    expect(() => check(config)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(message) }),
    )
    expect(() => check(config)).not.toThrow(/canary/)
  })
})
