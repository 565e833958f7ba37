// Credentials that need no consent, and tokens that expire: how each kind reaches the body.
import { type AuthConfig, type AuthCredential, respond, tool } from 'toolwright'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { callsOf, consentTo, type Desk, onlyRequest, openDesk, responsesIn, where } from './credentials-kit.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(async () => await desk[Symbol.asyncDispose]())

/** Runs one call of a tool with this configuration. Returns the credential of the body and the response to the model. */
async function callWith(authConfig: AuthConfig, runner: Parameters<Desk['start']>[0]['runner'] = {}) {
  const seen: (AuthCredential | undefined)[] = []
  const mail = tool({
    name: 'mail',
    description: 'Sends a mail',
    authConfig,
    run: (_args, { authCredential }) => {
      seen.push(authCredential)
      return { sent: true }
    },
  })
  const { events, pending } = await desk
    .start({ tools: [mail], steps: [callsOf('mail'), 'done'], runner })
    .complete({ ...where, message: 'go' })
  return { seen, pending, response: responsesIn(events).c1, log: JSON.stringify(events) }
}

describe('a tool that needs no consent', () => {
  test('gets a token for client credentials, and the next call uses the stored one', async () => {
    const config = desk.server.clientCredentialsConfig()
    const first = await callWith(config)
    const second = await callWith(config)
    expect(first.response).toEqual({ sent: true })
    expect(first.seen[0]?.oauth2?.accessToken).toEqual(expect.any(String))
    expect(second.seen).toEqual(first.seen)
    expect(desk.server.countTokenRequests('client_credentials')).toBe(1)
    expect(first.log).not.toContain(first.seen[0]?.oauth2?.accessToken)
  })

  test('gets the credential of its custom exchanger', async () => {
    const exchange = vi.fn(async () => ({
      authType: 'http',
      http: { scheme: 'bearer', credentials: { token: 'made' } },
    }))
    const config: AuthConfig = { authScheme: { type: 'custom', name: 'vault' }, credentialKey: 'vault' }
    const { seen, response } = await callWith(config, { credentialExchangers: { vault: exchange } })
    expect(response).toEqual({ sent: true })
    expect(seen[0]).toMatchObject({ http: { credentials: { token: 'made' } } })
    expect(exchange).toHaveBeenCalledWith(expect.objectContaining({ userId: 'ada' }))
  })

  test('is answered AUTH_FAILED when its custom scheme has no exchanger', async () => {
    const config: AuthConfig = { authScheme: { type: 'custom', name: 'vault' }, credentialKey: 'vault' }
    const { seen, response } = await callWith(config)
    expect(seen).toEqual([])
    expect(response).toMatchObject({ errorCode: 'AUTH_FAILED', error: expect.stringContaining('vault') })
  })

  test('gets a key that the app has stored for the user, and is answered AUTH_FAILED without one', async () => {
    const config: AuthConfig = { authScheme: { type: 'apiKey', in: 'query', name: 'key' }, credentialKey: 'own key' }
    const before = await callWith(config)
    expect(before.response).toMatchObject({ errorCode: 'AUTH_FAILED', error: expect.stringContaining('own key') })
    expect(before.pending).toEqual([])
    const credential: AuthCredential = { authType: 'apiKey', apiKey: 'sk-user' }
    await desk.credentialService.save({ appName: 'app', userId: 'ada', key: 'own key', credential })
    expect((await callWith(config)).seen).toEqual([credential])
  })

  test('is answered AUTH_FAILED, and the run continues, when the authorization server does not answer', async () => {
    const config = desk.server.clientCredentialsConfig()
    await desk.server.close()
    const { response } = await callWith(config)
    expect(response).toMatchObject({ errorCode: 'AUTH_FAILED' })
    expect(desk.warnings.length).toBeGreaterThan(0)
  })
})

describe('an expired token', () => {
  /** Consents once, then moves the clock after the end of the token. */
  async function expire() {
    let now = Date.now()
    const ports = { now: () => now }
    const runner = desk.start({ steps: [callsOf('mail'), 'done'], runner: { ports } })
    await runner.complete({ ...where, message: 'go' })
    const request = await onlyRequest(runner)
    await runner.complete({ ...where, message: [respond(request, { authResponseUri: await consentTo(request) })] })
    now += 2 * 3600 * 1000
    return ports
  }

  test('is refreshed once for 50 parallel calls, and the new token works', async () => {
    const ports = await expire()
    const names = Array.from({ length: 50 }, () => 'mail')
    const runner = desk.start({ steps: [callsOf(...names), 'done'], runner: { ports } })
    expect((await runner.complete({ userId: 'ada', message: 'go' })).text).toBe('done')
    expect(desk.server.countTokenRequests('refresh_token')).toBe(1)
    expect(desk.sent).toHaveBeenCalledTimes(51)
    expect(await desk.server.useToken(desk.sent.mock.lastCall?.[0] as string)).toBe(200)
  })

  test('whose refresh token was revoked makes the next call ask for a new consent', async () => {
    const ports = await expire()
    const [[key, stored]] = await storedTokens()
    await desk.server.revoke(stored.oauth2?.refreshToken as string)
    const runner = desk.start({ steps: [callsOf('mail'), 'done'], runner: { ports } })
    const { pending } = await runner.complete({ userId: 'ada', message: 'go' })
    expect(pending).toMatchObject([{ kind: 'credential', key }])
  })

  /** The key and the credential that the desk has stored for the user. */
  async function storedTokens(): Promise<[[string, AuthCredential]]> {
    const [request] = (
      await desk.start({ steps: [callsOf('mail')] }).complete({ userId: 'someone else', message: 'go' })
    ).pending
    const key = request?.key as string
    const stored = await desk.credentialService.load({ appName: 'app', userId: 'ada', key })
    return [[key, stored?.credential as AuthCredential]]
  }
})
