// A tool with an authConfig: the run pauses for a consent, and continues with the token.
import { deny, type JsonObject, respond, tool } from 'toolwright'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UserAgent } from '../../src/services/auth/user-agent.test-kit.ts'
import { callsOf, consentTo, type Desk, onlyRequest, openDesk, responsesIn, where } from './credentials-kit.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(async () => await desk[Symbol.asyncDispose]())

/** Starts a run that pauses for a consent. */
async function pause(more: Parameters<Desk['start']>[0] = {}) {
  const runner = desk.start({ steps: [callsOf('mail'), 'done'], ...more })
  const { events, pending } = await runner.complete({ ...where, message: 'mail it' })
  expect(pending).toMatchObject([{ kind: 'credential', tool: 'mail' }])
  return { runner, events, request: await onlyRequest(runner) }
}

describe('a tool with an authConfig', () => {
  test('pauses the run with an authorization URL, and runs with the token after the consent', async () => {
    const { runner, request } = await pause()
    expect(desk.sent).not.toHaveBeenCalled()
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const { text, pending } = await runner.complete({ ...where, message })
    expect({ text, pending }).toEqual({ text: 'done', pending: [] })
    expect(desk.sent).toHaveBeenCalledTimes(1)
    expect(await desk.server.useToken(desk.sent.mock.lastCall?.[0] as string)).toBe(200)
    expect(desk.server.countTokenRequests('authorization_code')).toBe(1)
  })

  test('shows the request as adk_request_credential, without the client secret or the verifier', async () => {
    const { events, request } = await pause()
    const shown = events.find(({ longRunningToolIds }) => longRunningToolIds?.includes(request.id))
    const call = shown?.content?.parts[0]?.functionCall
    expect(call).toMatchObject({ id: request.id, name: 'adk_request_credential', args: { functionCallId: 'c1' } })
    const authConfig = call?.args.authConfig as JsonObject
    expect(authConfig).toMatchObject({ exchangedAuthCredential: { oauth2: { authUri: request.authUri } } })
    expect(shown?.actions.requestedAuthConfigs).toEqual({ c1: authConfig })
    expect(JSON.stringify(shown)).not.toContain(desk.server.clientSecret)
    expect(JSON.stringify(shown)).not.toMatch(/verifier/i)
  })

  test('continues in another process', async () => {
    const { request } = await pause()
    const second = desk.start({ steps: ['done'] })
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    expect((await second.complete({ ...where, message })).text).toBe('done')
    expect(desk.sent).toHaveBeenCalledTimes(1)
  })

  test('uses the stored token in the next call without asking', async () => {
    const { runner, request } = await pause()
    await runner.complete({ ...where, message: [respond(request, { authResponseUri: await consentTo(request) })] })
    const next = desk.start({ steps: [callsOf('mail'), 'again'] })
    expect((await next.complete({ userId: 'ada', message: 'mail it' })).text).toBe('again')
    expect(desk.sent).toHaveBeenCalledTimes(2)
  })

  test("does not use another user's token", async () => {
    const { runner, request } = await pause()
    await runner.complete({ ...where, message: [respond(request, { authResponseUri: await consentTo(request) })] })
    const next = desk.start({ steps: [callsOf('mail'), 'again'] })
    expect((await next.complete({ userId: 'bob', message: 'mail it' })).pending).toHaveLength(1)
  })

  test('accepts { code, state }, and the whole AuthConfig that adk-web sends back', async () => {
    for (const shape of ['code', 'adk-web'] as const) {
      const home = { userId: shape, sessionId: shape }
      const runner = desk.start({ steps: [callsOf('mail'), 'done'] })
      const { pending } = await runner.complete({ ...home, message: 'mail it' })
      const request = pending[0] as (typeof pending)[0]
      const callback = new URL(await consentTo(request))
      const { searchParams } = callback
      const value =
        shape === 'code'
          ? { code: searchParams.get('code'), state: searchParams.get('state') }
          : {
              authScheme: { type: 'oauth2', flows: { authorizationCode: { tokenUrl: 'http://127.0.0.1:9/token' } } },
              exchangedAuthCredential: {
                authType: 'oauth2',
                oauth2: { authResponseUri: callback.href, redirectUri: desk.server.redirectUri, clientId: 'evil' },
              },
            }
      expect((await runner.complete({ ...home, message: [respond(request, value)] })).text).toBe('done')
    }
    expect(desk.server.countTokenRequests('authorization_code')).toBe(2)
  })

  test('is answered CANCELLED when the user declines', async () => {
    const { runner, request } = await pause()
    const { text, events } = await runner.complete({ ...where, message: [deny(request, { reason: 'not now' })] })
    expect(text).toBe('done')
    expect(responsesIn(events).c1).toMatchObject({ errorCode: 'CANCELLED', error: expect.stringContaining('not now') })
    expect(desk.sent).not.toHaveBeenCalled()
  })

  test('is answered AUTH_FAILED when the user declines on the page of the provider', async () => {
    const { runner, request } = await pause()
    const callback = await new UserAgent().decline(request.authUri as string)
    const { events } = await runner.complete({ ...where, message: [respond(request, { authResponseUri: callback })] })
    expect(responsesIn(events).c1).toMatchObject({ errorCode: 'AUTH_FAILED' })
    expect(desk.warnings.join()).toContain('mail')
  })

  test('is answered AUTH_FAILED, and the run continues, when the exchange fails', async () => {
    const { runner, request } = await pause()
    const callback = new URL(await consentTo(request))
    callback.searchParams.set('code', 'a-wrong-code')
    const message = [respond(request, { authResponseUri: callback.href })]
    const { text, events } = await runner.complete({ ...where, message })
    expect(text).toBe('done')
    expect(responsesIn(events).c1).toMatchObject({ errorCode: 'AUTH_FAILED' })
    expect(JSON.stringify(events)).not.toContain('a-wrong-code')
  })

  test('is answered AUTH_FAILED, without the message, when its configuration throws', async () => {
    const authScheme = {
      type: 'custom',
      name: 'own',
      get realm() {
        throw new Error('a-canary')
      },
    } as const
    const runner = desk.start({ tools: [desk.mail({ authConfig: { authScheme } })], steps: [callsOf('mail'), 'done'] })
    const { text, events } = await runner.complete({ ...where, message: 'mail it' })
    expect(text).toBe('done')
    expect(responsesIn(events).c1).toMatchObject({ errorCode: 'AUTH_FAILED' })
    expect(JSON.stringify([events, desk.warnings])).not.toContain('a-canary')
    expect(desk.sent).not.toHaveBeenCalled()
  })

  test('asks for the approval first, then for the credential, and remembers the approval', async () => {
    const runner = desk.start({
      tools: [desk.mail({ requiresConfirmation: true })],
      steps: [callsOf('mail'), 'done'],
    })
    const { pending } = await runner.complete({ ...where, message: 'mail it' })
    expect(pending).toMatchObject([{ kind: 'confirmation' }])
    const [approval] = pending
    const approved = await runner.complete({
      ...where,
      message: [respond(approval as (typeof pending)[0], { confirmed: true })],
    })
    expect(approved.pending).toMatchObject([{ kind: 'credential' }])
    const request = await onlyRequest(runner)
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    expect((await runner.complete({ ...where, message })).text).toBe('done')
    expect(desk.sent).toHaveBeenCalledTimes(1)
  })

  test('answers all calls of the invocation that need the same credential with one consent', async () => {
    const runner = desk.start({ steps: [callsOf('mail', 'mail', 'mail'), 'done'] })
    const { pending } = await runner.complete({ ...where, message: 'mail it' })
    expect(pending).toHaveLength(3)
    const [request] = pending
    const authResponseUri = await consentTo(request as (typeof pending)[0])
    const message = [respond(request as (typeof pending)[0], { authResponseUri })]
    expect((await runner.complete({ ...where, message })).text).toBe('done')
    expect(desk.sent).toHaveBeenCalledTimes(3)
    expect(desk.server.countTokenRequests('authorization_code')).toBe(1)
  })
})

describe('an API key of the developer', () => {
  test('reaches the body without a request', async () => {
    let seen: unknown
    const search = tool({
      name: 'mail',
      description: 'Sends a mail',
      authConfig: {
        authScheme: { type: 'apiKey', in: 'header', name: 'x-key' },
        rawAuthCredential: { authType: 'apiKey', apiKey: 'sk-1' },
      },
      run: (_args, { authCredential }) => {
        seen = authCredential
        return 'ok'
      },
    })
    const runner = desk.start({ tools: [search], steps: [callsOf('mail'), 'done'] })
    const { events } = await runner.complete({ ...where, message: 'go' })
    expect(seen).toEqual({ authType: 'apiKey', apiKey: 'sk-1' })
    expect(JSON.stringify(events)).not.toContain('sk-1')
  })
})
