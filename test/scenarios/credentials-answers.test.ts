// Hostile and late answers to credential requests: they change nothing, and no code is ever stored.
import { InMemorySessionService, type PendingRequest, respond, tool } from 'toolwright'
import type { InboxItem } from 'toolwright/store'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { callsOf, consentTo, type Desk, onlyRequest, openDesk, where } from './credentials-kit.ts'
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

function withParams(callback: string, changes: Record<string, string | undefined>): string {
  const url = new URL(callback)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.href
}

describe('an answer to a credential request', () => {
  test.each<[string, (callback: string) => unknown]>([
    ['a wrong state', (callback) => ({ authResponseUri: withParams(callback, { state: 'forged' }) })],
    ['no state', (callback) => ({ authResponseUri: withParams(callback, { state: undefined }) })],
    ['a foreign redirect URI', (callback) => ({ authResponseUri: callback, redirectUri: 'http://127.0.0.1:9/cb' })],
    ['no code', () => ({ status: 'authorized' })],
    ['a token', () => ({ exchangedAuthCredential: { authType: 'oauth2', oauth2: { accessToken: 'stolen' } } })],
    ['text', () => 'yes'],
  ])('with %s is refused, and the request stays open', async (_, forge) => {
    const { runner, request } = await pause()
    const callback = await consentTo(request)
    const message = [respond(request, forge(callback))]
    await expect(runner.complete({ ...where, message })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(desk.server.tokenRequests).toEqual([])
    expect(await onlyRequest(runner)).toEqual(request)
    const good = [respond(request, { authResponseUri: callback })]
    expect((await runner.complete({ ...where, message: good })).text).toBe('done')
  })

  test('of another user or session is refused', async () => {
    const { runner, request } = await pause()
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    for (const home of [
      { ...where, userId: 'eve' },
      { ...where, sessionId: 's2' },
    ]) {
      await expect(runner.complete({ ...home, message })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
    expect(desk.server.tokenRequests).toEqual([])
  })

  test('that names an allowed redirect URI is exchanged with it', async () => {
    await desk[Symbol.asyncDispose]()
    const page = 'http://127.0.0.1:9999/dev-ui'
    desk = await openDesk({ client: { redirect_uris: ['http://127.0.0.1:9999/callback', page] } })
    const runner = desk.start({ steps: [callsOf('mail'), 'done'], runner: { allowedRedirectUris: [page] } })
    const { request } = await pause(runner)
    const authUri = withParams(request.authUri as string, { redirect_uri: page })
    const callback = await consentTo({ ...request, authUri } as PendingRequest)
    const message = [respond(request, { authResponseUri: callback, redirectUri: page })]
    expect((await runner.complete({ ...where, message })).text).toBe('done')
  })

  test('sent twice exchanges the code once and replays the events', async () => {
    const { runner, request } = await pause()
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const first = await runner.complete({ ...where, message })
    const second = await runner.complete({ ...where, message })
    expect(second.events.map(({ id }) => id)).toEqual(first.events.map(({ id }) => id))
    expect(desk.server.countTokenRequests('authorization_code')).toBe(1)
    expect(desk.sent).toHaveBeenCalledTimes(1)
  })

  test('that arrives after ten minutes is refused as EXPIRED, and a new request takes its place', async () => {
    let now = Date.now()
    const runner = desk.start({ steps: [callsOf('mail'), 'done'], runner: { ports: { now: () => now } } })
    const { request } = await pause(runner)
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    now += 11 * 60 * 1000
    await expect(runner.complete({ ...where, message })).rejects.toMatchObject({ code: 'EXPIRED' })
    expect(desk.server.tokenRequests).toEqual([])
    const fresh = await onlyRequest(runner)
    expect(fresh.id).not.toBe(request.id)
    expect(fresh.authUri).not.toBe(request.authUri)
    const late = [respond(fresh, { authResponseUri: await consentTo(fresh) })]
    expect((await runner.complete({ ...where, message: late })).text).toBe('done')
  })

  test('never stores the code, also not in the inbox of a busy session', async () => {
    const posted: InboxItem[] = []
    class Spy extends InMemorySessionService {
      override async post(...args: Parameters<InMemorySessionService['post']>): Promise<number> {
        posted.push(args[1])
        return await super.post(...args)
      }
    }
    const sessionService = new Spy()
    const begun = createDeferred()
    const letGo = createDeferred()
    const work = tool({
      name: 'work',
      description: 'Works',
      run: async () => {
        begun.resolve()
        await letGo.promise
        return 'worked'
      },
    })
    const ports = {
      setTimer: (callback: () => void, ms: number) => {
        const timer = setTimeout(callback, ms / 20)
        return () => clearTimeout(timer)
      },
    }
    const first = desk.start({
      tools: [desk.mail(), work],
      steps: [callsOf('mail', 'work'), 'done'],
      runner: { sessionService, ports },
    })
    const finished = first.complete({ ...where, message: 'mail it' })
    await begun.promise
    await vi.waitFor(async () => expect(await first.pending(where)).toHaveLength(1))
    const request = await onlyRequest(first)
    const callback = await consentTo(request)
    const code = new URL(callback).searchParams.get('code') as string
    const second = desk.start({ tools: [desk.mail(), work], steps: [], runner: { sessionService } })
    const answering = second.complete({ ...where, message: [respond(request, { authResponseUri: callback })] })
    await vi.waitFor(() => expect(posted).toHaveLength(1))
    letGo.resolve()
    expect((await finished).text).toBe('done')
    await answering
    expect(JSON.stringify(posted)).not.toContain(code)
    const session = await sessionService.getSession({ appName: 'app', ...where })
    expect(JSON.stringify(session)).not.toContain(code)
    expect(desk.sent).toHaveBeenCalledTimes(1)
  })
})
