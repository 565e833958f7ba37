// Consents that no process completes: the process of an exchange died, or the invocation was cancelled.
import {
  agentTool,
  type CredentialService,
  type InMemoryCredentialService,
  LlmAgent,
  type PendingRequest,
  type Runner,
  respond,
  type Toolset,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callsOf, consentTo, type Desk, onlyRequest, openDesk, where } from './credentials-kit.ts'
import { createDeferred } from './kit.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(async () => await desk[Symbol.asyncDispose]())

const MINUTE = 60_000
const answer = async (request: PendingRequest) => [respond(request, { authResponseUri: await consentTo(request) })]
const later = (minutes: number) => ({ ports: { now: () => Date.now() + minutes * MINUTE } })

/** A process that dies when the consent is stored in this state: nothing it waits for ever arrives. */
function startDying(state: 'before the exchange' | 'after the exchange') {
  const died = createDeferred()
  const isLast = (custom: { readonly [name: string]: unknown } = {}): boolean =>
    custom.type === 'used' && (custom.outcome === undefined) === (state === 'before the exchange')
  const service: InMemoryCredentialService = desk.credentialService
  const credentialService: CredentialService = {
    load: (key) => service.load(key),
    delete: (key) => service.delete(key),
    save: async (options) => {
      const generation = await service.save(options)
      if (!isLast(options.credential.custom)) return generation
      died.resolve()
      return await new Promise<never>(() => {})
    },
  }
  return { runner: desk.start({ steps: [callsOf('mail')], runner: { credentialService } }), died: died.promise }
}

const consentKeys = async (): Promise<string[]> =>
  (await desk.credentialService.list({ appName: 'app', userId: where.userId })).filter((key) =>
    key.startsWith('consent:'),
  )

describe.each(['before the exchange', 'after the exchange'] as const)('a process that is killed %s', (state) => {
  test('blocks the consent for 10 minutes, then it is EXPIRED and the call goes on', async () => {
    const { runner, died } = startDying(state)
    await runner.complete({ ...where, message: 'mail it' })
    const request = await onlyRequest(runner)
    void runner.complete({ ...where, message: await answer(request) }).catch(() => {})
    await died

    const soon = desk.start({ steps: ['done'], runner: later(9) })
    const early = soon.complete({ ...where, message: await answer(request) })
    await expect(early).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })

    const next = desk.start({ steps: ['done'], runner: later(11) })
    const late = next.complete({ ...where, message: await answer(request) })
    await expect(late).rejects.toMatchObject({ code: 'EXPIRED' })
    if (state === 'before the exchange') {
      const again = await onlyRequest(next) // the call asks again
      expect(again.id).not.toBe(request.id)
      expect((await next.complete({ ...where, message: await answer(again) })).text).toBe('done')
    }
    expect(desk.sent).toHaveBeenCalledExactlyOnceWith(expect.any(String)) // the tokens of a finished exchange are used
    expect(await consentKeys()).toEqual([])
  })
})

test('the same answer again after 10 minutes is EXPIRED if its exchange never ended', async () => {
  const { runner, died } = startDying('before the exchange')
  await runner.complete({ ...where, message: 'mail it' })
  const request = await onlyRequest(runner)
  const message = await answer(request)
  void runner.complete({ ...where, message }).catch(() => {})
  await died
  const next = desk.start({ steps: ['done'], runner: later(11) })
  await expect(next.complete({ ...where, message })).rejects.toMatchObject({ code: 'EXPIRED' })
  expect((await onlyRequest(next)).id).not.toBe(request.id)
})

test('an answer to a consent in the form of an earlier version, used 10 minutes ago, is EXPIRED', async () => {
  const { runner, died } = startDying('before the exchange')
  await runner.complete({ ...where, message: 'mail it' })
  const request = await onlyRequest(runner)
  void runner.complete({ ...where, message: await answer(request) }).catch(() => {})
  await died
  const key = { appName: 'app', userId: 'ada', key: `consent:${request.id}` }
  const stored = await desk.credentialService.load(key)
  const { expiresAt: _, ...custom } = stored?.credential.custom ?? {}
  await desk.credentialService.save({ ...key, credential: { authType: 'consent', custom } })
  const next = desk.start({ steps: ['done'], runner: later(11) })
  await expect(next.complete({ ...where, message: await answer(request) })).rejects.toMatchObject({ code: 'EXPIRED' })
})

describe('the consents of a cancelled invocation are deleted:', () => {
  async function cancelled(runner: Runner): Promise<void> {
    await runner.complete({ ...where, message: 'mail it' })
    expect(await consentKeys()).toHaveLength(1)
    await runner.cancel(where)
    expect(await consentKeys()).toEqual([])
  }

  test('of a tool', async () => await cancelled(desk.start({ steps: [callsOf('mail')] })))

  test('of a tool inside an agent tool', async () => {
    const inner = new LlmAgent({ name: 'inner', model: scriptedModel([callsOf('mail')]), tools: [desk.mail()] })
    const steps = [{ calls: [{ name: 'inner', args: { request: 'go' } }] }]
    await cancelled(desk.start({ steps, tools: [agentTool(inner)] }))
  })

  test('of a toolset', async () => {
    const toolset: Toolset = { name: 'set', authConfig: desk.server.oauth2Config(), listTools: async () => [] }
    await cancelled(desk.start({ steps: ['done'], tools: [toolset] }))
  })

  test('by new text that cancels', async () => {
    const runner = desk.start({ steps: [callsOf('mail'), 'hello'], runner: { whilePaused: 'cancel' } })
    await runner.complete({ ...where, message: 'mail it' })
    expect((await runner.complete({ ...where, message: 'hi' })).text).toBe('hello')
    expect(await consentKeys()).toEqual([])
  })

  test('but not those of the original when a copy of its session is closed', async () => {
    const runner = desk.start({ steps: [callsOf('mail'), 'done'] })
    await runner.complete({ ...where, message: 'first' })
    const request = await onlyRequest(runner)
    const session = await desk.sessionService.getSession({ appName: 'app', ...where })
    const last = session?.events.at(-1)?.id ?? ''
    await runner.fork({ ...where, before: last })
    expect(await consentKeys()).toEqual([`consent:${request.id}`])
    expect((await runner.complete({ ...where, message: await answer(request) })).text).toBe('done')
  })
})
