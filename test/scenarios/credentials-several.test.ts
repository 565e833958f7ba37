// A tool that needs several credentials at once, and a toolset that learns from its server that it needs one.
import { type AuthConfig, CredentialRequired, deny, respond, type Tool, type Toolset, tool } from 'toolwright'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callsOf, consentTo, type Desk, onlyRequest, openDesk, responsesIn, where } from './credentials-kit.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(async () => await desk[Symbol.asyncDispose]())

const apiKey: AuthConfig = {
  authScheme: { type: 'apiKey', in: 'header', name: 'x-key' },
  rawAuthCredential: { authType: 'apiKey', apiKey: 'k-123' },
}

function both(configs: readonly AuthConfig[]): Tool {
  return tool({
    name: 'mail',
    description: 'Sends a mail',
    authConfig: configs,
    run: (_args, { authCredential, authCredentials }) => {
      desk.sent(authCredentials[1]?.oauth2?.accessToken)
      return { first: authCredential === authCredentials[0], kinds: authCredentials.map(({ authType }) => authType) }
    },
  })
}

describe('a tool with a list of credentials', () => {
  test('runs with all of them, in the order of the list', async () => {
    const tools = [both([apiKey, desk.server.oauth2Config()])]
    const runner = desk.start({ tools, steps: [callsOf('mail'), 'done'] })
    await runner.complete({ ...where, message: 'go' })
    const request = await onlyRequest(runner)
    expect(desk.sent).not.toHaveBeenCalled()
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const { events } = await runner.complete({ ...where, message })
    expect(responsesIn(events)).toEqual({ c1: { first: true, kinds: ['apiKey', 'oauth2'] } })
    expect(await desk.server.useToken(desk.sent.mock.lastCall?.[0] as string)).toBe(200)
  })

  test('asks for two consents at the same time, and runs after both', async () => {
    const configs = ['one', 'two'].map((credentialKey) => ({ ...desk.server.oauth2Config(), credentialKey }))
    const runner = desk.start({ tools: [both(configs)], steps: [callsOf('mail'), 'done'] })
    const { pending } = await runner.complete({ ...where, message: 'go' })
    expect(pending.map(({ kind, key }) => [kind, key])).toEqual([
      ['credential', 'one'],
      ['credential', 'two'],
    ])
    const [first, second] = pending
    if (!first || !second) throw new Error('Two requests are expected.')
    const half = await runner.complete({
      ...where,
      message: [respond(first, { authResponseUri: await consentTo(first) })],
    })
    expect(half.pending.map(({ key }) => key)).toEqual(['two'])
    expect(desk.sent).not.toHaveBeenCalled()
    const message = [respond(second, { authResponseUri: await consentTo(second) })]
    expect((await runner.complete({ ...where, message })).text).toBe('done')
    expect(desk.sent).toHaveBeenCalledTimes(1)
  })

  test('does not run when one consent is declined', async () => {
    const runner = desk.start({
      tools: [both([apiKey, desk.server.oauth2Config()])],
      steps: [callsOf('mail'), 'done'],
    })
    await runner.complete({ ...where, message: 'go' })
    const { events } = await runner.complete({ ...where, message: [deny(await onlyRequest(runner))] })
    expect(responsesIn(events)).toMatchObject({ c1: { errorCode: 'CANCELLED' } })
    expect(desk.sent).not.toHaveBeenCalled()
  })

  test('rejects a list with an invalid credential when the tool is built', () => {
    expect(() => both([apiKey, { authScheme: { type: 'nope' } as never }])).toThrow(/mail/)
  })
})

describe('a toolset that throws CredentialRequired', () => {
  const send = tool({ name: 'send', description: 'Sends', run: () => 'sent' })

  function mailbox(): Toolset {
    return {
      name: 'mailbox',
      listTools: async ({ authCredential }) => {
        if (!authCredential) throw new CredentialRequired(desk.server.oauth2Config())
        desk.sent(authCredential.oauth2?.accessToken)
        return [send]
      },
    }
  }

  test('pauses the run before the first model call, and lists again with the credential', async () => {
    const runner = desk.start({ tools: [mailbox()], steps: [callsOf('send'), 'done'] })
    await runner.complete({ ...where, message: 'go' })
    const request = await onlyRequest(runner)
    expect(request).toMatchObject({ kind: 'credential', tool: 'mailbox' })
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const { text, events } = await runner.complete({ ...where, message })
    expect(text).toBe('done')
    expect(responsesIn(events)).toMatchObject({ c1: { result: 'sent' } })
    expect(await desk.server.useToken(desk.sent.mock.lastCall?.[0] as string)).toBe(200)
  })

  test('is left out when it still wants a credential after it got one', async () => {
    const greedy: Toolset = {
      name: 'greedy',
      listTools: async () => {
        throw new CredentialRequired(apiKey)
      },
    }
    const runner = desk.start({ tools: [greedy], steps: ['without it'] })
    expect((await runner.complete({ ...where, message: 'go' })).text).toBe('without it')
    expect(desk.warnings.join()).toContain('greedy')
  })
})
