// Credentials that a tool body asks for itself: getCredential() and requestCredential().
import { type AuthConfig, respond, type ToolContext, tool } from 'toolwright'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callsOf, consentTo, type Desk, onlyRequest, openDesk, responsesIn, where } from './credentials-kit.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(async () => await desk[Symbol.asyncDispose]())

/** A tool whose body asks for a token under its own key. */
function mailer(run: (context: ToolContext, authConfig: AuthConfig) => Promise<unknown>) {
  const authConfig = desk.server.oauth2Config()
  return tool({ name: 'mail', description: 'Sends a mail', run: (_args, context) => run(context, authConfig) })
}

const getOrRequest = async (context: ToolContext, authConfig: AuthConfig): Promise<unknown> => {
  const outcome = await context.getCredential('mail token', authConfig)
  if (outcome.status === 'needs-auth') return context.requestCredential('mail token', authConfig)
  if (outcome.status === 'failed') return { failed: outcome.reason }
  desk.sent(outcome.credential.oauth2?.accessToken)
  return { sent: true }
}

describe('requestCredential()', () => {
  test('pauses the call, stores the token under its key, and the body runs again with it', async () => {
    const runner = desk.start({ tools: [mailer(getOrRequest)], steps: [callsOf('mail'), 'done'] })
    await runner.complete({ ...where, message: 'go' })
    const request = await onlyRequest(runner)
    expect(request).toMatchObject({ kind: 'credential', key: 'mail token' })
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const { events } = await runner.complete({ ...where, message })
    expect(responsesIn(events).c1).toEqual({ sent: true })
    expect(await desk.server.useToken(desk.sent.mock.lastCall?.[0] as string)).toBe(200)
    const key = { appName: 'app', userId: 'ada', key: 'mail token' }
    expect(await desk.credentialService.load(key)).toMatchObject({ credential: { authType: 'oauth2' } })
  })

  test('shows its request in context.actions without the client secret', async () => {
    let shown = ''
    const asking = mailer(async (context, authConfig) => {
      context.requestCredential('mail token', authConfig)
      shown = JSON.stringify(context.actions.requestedAuthConfigs)
    })
    await desk.start({ tools: [asking], steps: [callsOf('mail')] }).complete({ ...where, message: 'go' })
    expect(shown).toContain('"c1"')
    expect(shown).not.toContain(desk.server.clientSecret)
  })

  test('is an error result when the body asks again although the user has consented', async () => {
    const stubborn = mailer(async (context, authConfig) => context.requestCredential('mail token', authConfig))
    const runner = desk.start({ tools: [stubborn], steps: [callsOf('mail'), 'done'] })
    await runner.complete({ ...where, message: 'go' })
    const request = await onlyRequest(runner)
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const { text, events } = await runner.complete({ ...where, message })
    expect(text).toBe('done')
    expect(responsesIn(events).c1).toMatchObject({ errorCode: 'AUTH_FAILED' })
  })

  test.each(['', 'consent:x', 'refresh:x', 'x'.repeat(10_000)])('rejects the key %.20j', async (key) => {
    const asking = mailer(async (context, authConfig) => context.requestCredential(key, authConfig))
    const { events } = await desk
      .start({ tools: [asking], steps: [callsOf('mail'), 'done'] })
      .complete({ ...where, message: 'go' })
    expect(responsesIn(events).c1).toMatchObject({ error: expect.stringContaining('key of a credential') })
  })
})

describe('credentials of the user', () => {
  test('are saved, found and loaded by a body, and are nowhere in the log', async () => {
    const seen: unknown[] = []
    const keeper = mailer(async (context) => {
      seen.push(await context.hasCredential('notes'), await context.loadCredential('notes'))
      await context.saveCredential('notes', { authType: 'apiKey', apiKey: 'sk-canary' })
      seen.push(await context.hasCredential('notes'), await context.loadCredential('notes'))
      return 'kept'
    })
    const runner = desk.start({ tools: [keeper], steps: [callsOf('mail'), 'done'] })
    const { events } = await runner.complete({ ...where, message: 'go' })
    expect(seen).toEqual([false, undefined, true, { authType: 'apiKey', apiKey: 'sk-canary' }])
    expect(JSON.stringify(events)).not.toContain('sk-canary')
  })
})
