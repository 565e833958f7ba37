// A toolset with an authConfig: the run pauses before the toolset lists its tools.
import {
  deny,
  filterTools,
  LlmAgent,
  ParallelAgent,
  type PendingRequest,
  prefixTools,
  respond,
  type Tool,
  type Toolset,
  tool,
} from 'toolwright'
import { scriptedModel, strictModel } from 'toolwright/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callsOf, consentTo, type Desk, onlyRequest, openDesk, responsesIn, where } from './credentials-kit.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(async () => await desk[Symbol.asyncDispose]())

const send = tool({ name: 'send', description: 'Sends', run: () => 'sent' })

/** A toolset that notes the token of each listing. */
function mailbox(): Toolset {
  return {
    name: 'mailbox',
    authConfig: desk.server.oauth2Config(),
    listTools: async ({ authCredential }): Promise<readonly Tool[]> => {
      desk.sent(authCredential?.oauth2?.accessToken)
      return [send]
    },
  }
}

describe('a toolset with an authConfig', () => {
  test.each<[string, string, (toolset: Toolset) => Toolset]>([
    ['as it is', 'send', (toolset) => toolset],
    ['behind a filter and a prefix', 'my_send', (toolset) => prefixTools(filterTools(toolset, ['send']), 'my_')],
  ])('%s pauses the run before the first model call, and lists its tools with the token', async (_, name, wrap) => {
    const runner = desk.start({ tools: [wrap(mailbox())], steps: [callsOf(name), 'done'] })
    const { pending } = await runner.complete({ ...where, message: 'go' })
    expect(pending).toMatchObject([
      { kind: 'credential', functionCallId: '_adk_toolset_auth_mailbox', tool: 'mailbox', agent: 'agent' },
    ])
    expect(desk.sent).not.toHaveBeenCalled()
    const request = await onlyRequest(runner)
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    expect((await runner.complete({ ...where, message })).text).toBe('done')
    expect(await desk.server.useToken(desk.sent.mock.lastCall?.[0] as string)).toBe(200)
  })

  test('continues in another process', async () => {
    await desk.start({ tools: [mailbox()] }).complete({ ...where, message: 'go' })
    const second = desk.start({ tools: [mailbox()], steps: [callsOf('send'), 'done'] })
    const request = await onlyRequest(second)
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    expect((await second.complete({ ...where, message })).text).toBe('done')
  })

  test('is left out with a warning when the user declines, and the agent continues', async () => {
    const runner = desk.start({ tools: [mailbox()], steps: ['without it'] })
    await runner.complete({ ...where, message: 'go' })
    const request = await onlyRequest(runner)
    const { text, pending } = await runner.complete({ ...where, message: [deny(request)] })
    expect({ text, pending }).toEqual({ text: 'without it', pending: [] })
    expect(desk.sent).not.toHaveBeenCalled()
    expect(desk.warnings.join()).toContain('mailbox')
  })

  test('can be cancelled while it waits', async () => {
    const runner = desk.start({ tools: [mailbox()], steps: ['later'] })
    await runner.complete({ ...where, message: 'go' })
    await runner.cancel(where)
    expect(await runner.pending(where)).toEqual([])
  })

  test('that the user does not answer for a day is left out, and the next message is accepted', async () => {
    let now = Date.now()
    const runner = desk.start({ tools: [mailbox()], steps: ['without it'], runner: { ports: { now: () => now } } })
    const first = await runner.complete({ ...where, message: 'go' })
    now += 25 * 60 * 60 * 1000
    const { events, pending } = await runner.complete({ ...where, message: 'hello' })
    expect(events[0]).toMatchObject({ invocationId: first.invocationId, content: { parts: [{ text: 'without it' }] } })
    expect(pending).toMatchObject([{ kind: 'credential' }])
  })

  test('waits for its consent although the model has used its id for a call', async () => {
    let needsAuth = false
    const box = mailbox()
    const toolset: Toolset = {
      name: 'mailbox',
      get authConfig() {
        return needsAuth ? box.authConfig : undefined
      },
      listTools: async () => [send],
    }
    const sign: Tool = tool({ name: 'sign', description: 'Signs out', run: () => (needsAuth = true) })
    const call = { name: 'sign', id: '_adk_toolset_auth_mailbox', args: {} }
    const runner = desk.start({ tools: [sign, toolset], steps: [{ calls: [call] }, 'done'] })
    const { pending } = await runner.complete({ ...where, message: 'go' })
    const [request] = pending as [PendingRequest]
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    expect((await runner.complete({ ...where, message })).text).toBe('done')
  })

  test('that parallel agents share is asked for in each branch, and one consent answers all', async () => {
    const box = mailbox()
    const subAgents = ['a', 'b'].map((name) => {
      const calls = [{ name: 'send', id: `c-${name}`, args: {} }]
      return new LlmAgent({ name, model: strictModel(scriptedModel([{ calls }, 'done'])), tools: [box] })
    })
    const runner = desk.start({ runner: { agent: new ParallelAgent({ name: 'both', subAgents }) } })
    const { pending } = await runner.complete({ ...where, message: 'go' })
    expect(pending).toMatchObject([
      { tool: 'mailbox', agent: 'a' },
      { tool: 'mailbox', agent: 'b' },
    ])
    const [request] = pending as [PendingRequest]
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const { events } = await runner.complete({ ...where, message })
    expect(responsesIn(events)).toEqual({ 'c-a': { result: 'sent' }, 'c-b': { result: 'sent' } })
    expect(desk.server.countTokenRequests('authorization_code')).toBe(1)
  })

  test('is asked for again after a transfer to an agent whose toolset has the same name and another credential', async () => {
    const box = { ...mailbox(), authConfig: { ...desk.server.oauth2Config(), credentialKey: 'other' } }
    const child = new LlmAgent({ name: 'child', model: scriptedModel([callsOf('send'), 'done']), tools: [box] })
    const transfer = { calls: [{ name: 'transfer_to_agent', id: 'c9', args: { agent_name: 'child' } }] }
    const agent = new LlmAgent({ name: 'a', model: scriptedModel([transfer]), tools: [mailbox()], subAgents: [child] })
    const runner = desk.start({ runner: { agent } })
    let { pending, text } = await runner.complete({ ...where, message: 'go' })
    for (const key of [expect.stringMatching(/^adk_oauth2_/), 'other']) {
      expect(pending).toMatchObject([{ key }])
      const [request] = pending as [PendingRequest]
      const message = [respond(request, { authResponseUri: await consentTo(request) })]
      ;({ pending, text } = await runner.complete({ ...where, message }))
    }
    expect(text).toBe('done')
  })

  test('with a malformed authConfig is refused when the agent is built', () => {
    const broken = { ...mailbox(), authConfig: { authScheme: { type: 'oauth2' as const, flows: {} } } }
    expect(() => desk.start({ tools: [broken] })).toThrow(/mailbox/)
  })
})
