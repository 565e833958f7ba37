// Answers that are sent again, under a wrong name, or beside requests that have expired.
import {
  approve,
  deny,
  InMemoryCredentialService,
  InMemorySessionService,
  type Part,
  type PendingRequest,
  type Runner,
  respond,
  tool,
} from 'toolwright'
import type { InboxItem } from 'toolwright/store'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { callsOf, consentTo, type Desk, onlyRequest, openDesk, responsesIn, where } from './credentials-kit.ts'
import { createDeferred } from './kit.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(async () => await desk[Symbol.asyncDispose]())

async function pause(runner = desk.start({ steps: [callsOf('mail'), 'done'] })) {
  await runner.complete({ ...where, message: 'mail it' })
  return { runner, request: await onlyRequest(runner) }
}

async function eventIds(runner: Runner, message: Part[]): Promise<string[]> {
  return (await runner.complete({ ...where, message })).events.map(({ id }) => id)
}

describe('an answer that is sent again', () => {
  test('replays the events after a decline', async () => {
    const { runner, request } = await pause()
    const message = [deny(request, { reason: 'not now' })]
    expect(await eventIds(runner, message)).toEqual(await eventIds(runner, message))
  })

  test('replays the events after a failed exchange, and does not exchange again', async () => {
    const { runner, request } = await pause()
    const callback = new URL(await consentTo(request))
    callback.searchParams.set('code', 'a-wrong-code')
    const message = [respond(request, { authResponseUri: callback.href })]
    expect(await eventIds(runner, message)).toEqual(await eventIds(runner, message))
    expect(desk.server.countTokenRequests('authorization_code')).toBe(1)
  })

  test('is ALREADY_ANSWERED if it declines what was authorized, or brings a code after a decline', async () => {
    const { runner, request } = await pause()
    const authResponseUri = await consentTo(request)
    await runner.complete({ ...where, message: [respond(request, { authResponseUri })] })
    const decline = runner.complete({ ...where, message: [deny(request)] })
    await expect(decline).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })

    const home = { userId: 'bob', sessionId: 's2' }
    const other = desk.start({ steps: [callsOf('mail'), 'done'] })
    const [declined] = (await other.complete({ ...home, message: 'mail it' })).pending as [PendingRequest]
    await other.complete({ ...home, message: [deny(declined)] })
    const late = other.complete({
      ...home,
      message: [respond(declined, { authResponseUri: await consentTo(declined) })],
    })
    await expect(late).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
  })

  test('at the same time by several processes exchanges the code once and continues once', async () => {
    const { request } = await pause()
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const runners = [1, 2, 3, 4].map(() => desk.start({ steps: ['done'] }))
    const answered = await Promise.all(runners.map((one) => one.complete({ ...where, message })))
    expect(answered.map(({ text }) => text)).toEqual(['done', 'done', 'done', 'done'])
    expect(desk.server.countTokenRequests('authorization_code')).toBe(1)
    expect(desk.sent).toHaveBeenCalledTimes(1)
  })

  test('by the id of its call does not become the result of the work that it has started', async () => {
    const run = () => ({ status: 'pending' })
    const runner = desk.start({ tools: [desk.mail({ isLongRunning: true, run })], steps: [callsOf('mail'), 'done'] })
    const { request } = await pause(runner)
    const authResponseUri = await consentTo(request)
    const byCall = { functionResponse: { id: 'c1', name: 'adk_request_credential', response: { authResponseUri } } }
    expect(await eventIds(runner, [byCall])).toEqual(await eventIds(runner, [byCall]))
    expect(await onlyRequest(runner)).toMatchObject({ kind: 'longRunning' })
    const session = await desk.sessionService.getSession({ appName: 'app', ...where })
    expect(JSON.stringify(session)).not.toContain(new URL(authResponseUri).searchParams.get('code'))
  })

  test('replays the events if it is the result of a long-running call with a code in it', async () => {
    const job = tool({ name: 'job', description: 'Works', isLongRunning: true, run: () => ({ status: 'pending' }) })
    const runner = desk.start({ tools: [job], steps: [callsOf('job'), 'waiting', 'done'] })
    await runner.complete({ ...where, message: 'go' })
    const message = [respond(await onlyRequest(runner), { code: 'OK' })]
    expect(await eventIds(runner, message)).toEqual(await eventIds(runner, message))
  })
})

test.each(['adk_request_confirmation', 'adk_request_input', 'mail'])(
  'a code that is sent by call id under the name %s is never posted to the inbox of a busy session',
  async (name) => {
    const posted: InboxItem[] = []
    class Spy extends InMemorySessionService {
      override async post(...args: Parameters<InMemorySessionService['post']>): Promise<number> {
        posted.push(args[1])
        return await super.post(...args)
      }
    }
    const sessionService = new Spy()
    const letGo = createDeferred()
    const work = tool({ name: 'work', description: 'Works', run: () => letGo.promise.then(() => 'worked') })
    const setTimer = (callback: () => void, ms: number): (() => void) => {
      const timer = setTimeout(callback, ms / 20)
      return () => clearTimeout(timer)
    }
    const tools = [desk.mail(), work]
    const steps = [callsOf('mail', 'work'), 'done']
    const first = desk.start({ tools, steps, runner: { sessionService, ports: { setTimer } } })
    const finished = first.complete({ ...where, message: 'mail it' })
    await vi.waitFor(async () => expect(await first.pending(where)).toHaveLength(1))
    const callback = await consentTo(await onlyRequest(first))
    const second = desk.start({ tools, runner: { sessionService } })
    const message = [{ functionResponse: { id: 'c1', name, response: { authResponseUri: callback } } }]
    const answering = second.complete({ ...where, message })
    await vi.waitFor(() => expect(posted).toHaveLength(1))
    letGo.resolve()
    expect((await finished).text).toBe('done')
    await answering
    expect(JSON.stringify(posted)).not.toContain(new URL(callback).searchParams.get('code'))
    expect(desk.sent).toHaveBeenCalledTimes(1)
  },
)

describe('answers to several requests', () => {
  test('answer the open one although another request for the same credential has expired', async () => {
    let now = Date.now()
    const runner = desk.start({
      tools: [desk.mail({ expiresInMs: 60_000 }), { ...desk.mail(), ...named('post') }],
      steps: [callsOf('mail', 'post'), 'done'],
      runner: { ports: { now: () => now } },
    })
    const { pending } = await runner.complete({ ...where, message: 'go' })
    const request = pending.find((one) => one.tool === 'post') as PendingRequest
    now += 120_000
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const { events } = await runner.complete({ ...where, message })
    expect(responsesIn(events)).toMatchObject({ c1: { errorCode: 'CANCELLED' }, c2: { sent: true } })
  })

  test('under the name of credential requests do not answer a confirmation', async () => {
    const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => 'paid' })
    const runner = desk.start({ tools: [pay], steps: [callsOf('pay'), 'done'] })
    await runner.complete({ ...where, message: 'go' })
    const request = await onlyRequest(runner)
    for (const id of [request.id, 'c1']) {
      const message = [{ functionResponse: { id, name: 'adk_request_credential', response: { status: 'authorized' } } }]
      await expect(runner.complete({ ...where, message })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    }
    expect(await onlyRequest(runner)).toEqual(request)
  })

  test('of which one is unusable are all refused, and can be sent again', async () => {
    const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => 'paid' })
    const runner = desk.start({ tools: [desk.mail(), pay], steps: [callsOf('mail', 'pay'), 'done'] })
    const { pending } = await runner.complete({ ...where, message: 'go' })
    const [consent, approval] = ['credential', 'confirmation'].map((kind) => pending.find((one) => one.kind === kind))
    const given = respond(consent as PendingRequest, { authResponseUri: await consentTo(consent as PendingRequest) })
    const unusable = respond(approval as PendingRequest, { confirmed: true, amount: 5 })
    for (const message of [
      [given, unusable],
      [given, { text: 'and hello' }],
    ]) {
      await expect(runner.complete({ ...where, message })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
      expect(await runner.pending(where)).toHaveLength(2)
    }
    const message = [given, approve(approval as PendingRequest)]
    expect((await runner.complete({ ...where, message })).text).toBe('done')
    expect(desk.server.countTokenRequests('authorization_code')).toBe(1)
  })
})

/** The name and the declaration of a copied tool. */
function named(name: string) {
  return { name, declaration: () => ({ name, description: 'Sends a mail' }) }
}

test('what is stored about a consent is deleted once its answer is recorded', async () => {
  const stored = new Set<string>()
  class Spy extends InMemoryCredentialService {
    override async save(options: Parameters<InMemoryCredentialService['save']>[0]): Promise<number> {
      stored.add(options.key)
      return await super.save(options)
    }
    override async delete(options: Parameters<InMemoryCredentialService['delete']>[0]): Promise<boolean> {
      stored.delete(options.key)
      return await super.delete(options)
    }
  }
  let now = Date.now()
  const authConfig = { ...desk.server.oauth2Config(), credentialKey: 'toolset' }
  const asking = tool({
    name: 'ask',
    description: 'Asks',
    run: async (_args, context) => {
      const { status } = await context.getCredential('body', desk.server.oauth2Config())
      if (status === 'needs-auth') context.requestCredential('body', desk.server.oauth2Config())
      return status
    },
  })
  const runner = desk.start({
    tools: [{ name: 'box', authConfig, listTools: async () => [] }, desk.mail({ expiresInMs: 60_000 }), asking],
    steps: [callsOf('ask', 'mail'), 'done'],
    runner: { credentialService: new Spy(), ports: { now: () => now } },
  })
  const [toolset] = (await runner.complete({ ...where, message: 'go' })).pending as [PendingRequest]
  await runner.complete({ ...where, message: [deny(toolset)] })
  now += 120_000
  const body = (await runner.pending(where)).find(({ key }) => key === 'body') as PendingRequest
  expect([...stored].filter((key) => key.startsWith('consent:'))).toHaveLength(2)
  const message = [respond(body, { authResponseUri: await consentTo(body) })]
  expect((await runner.complete({ ...where, message })).text).toBe('done')
  expect([...stored]).toEqual(['body'])
})
