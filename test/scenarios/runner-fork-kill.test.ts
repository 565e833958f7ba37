// A process dies, or its disk is full, while it copies a session. No other process runs a call of the original again.
import {
  type ArtifactService,
  approve,
  createEvent,
  InMemorySessionService,
  LlmAgent,
  Runner,
  type SessionService,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { stores } from '../stores.ts'
import { collect, createDeferred, ManualTimers, recordingLogger } from './kit.ts'

const LEASE_MS = 15_000
const app = { appName: 'app', userId: 'ada' }
const original = { userId: 'ada', sessionId: 's1' }
const PAY: ScriptedStep = { calls: [{ name: 'pay' }] }

interface Services {
  readonly sessionService: SessionService
  readonly artifactService: ArtifactService
}

/** The services of a process that dies when its n-th call of a service has returned. */
function dying(services: Services, n: number) {
  let calls = 0
  const dead = createDeferred()
  const wrap = <S extends object>(service: S): S =>
    new Proxy(service, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]) => {
          if (calls >= n) return await new Promise(() => {})
          calls++
          const isLast = calls === n
          const result: unknown = await value.apply(target, args)
          if (!isLast) return result
          dead.resolve()
          return await new Promise(() => {})
        }
      },
    })
  const { sessionService, artifactService } = services
  const wrapped = { sessionService: wrap(sessionService), artifactService: wrap(artifactService) }
  return { services: wrapped, dead: dead.promise }
}

/** A process with a tool that pays after an approval. */
function desk(services: Partial<Services>, steps: readonly ScriptedStep[], more: object = {}) {
  const paid: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pay',
    effect: 'idempotent', // so that a call with an intent would run again, too
    requiresConfirmation: true,
    run: (_, context) => {
      paid.push(context.invocation.session.id)
      return { paid: true }
    },
  })
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [pay] })
  const logger = recordingLogger()
  return { runner: new Runner({ appName: 'app', agent, logger, ...services, ...more }), paid, logger }
}

/** A session with an approved payment and a file. Before them come as many events as fill the first append of a copy. */
async function payInSession(services: Services, earlier: number): Promise<{ before: string }> {
  const filler = Array.from({ length: earlier }, (_, at) =>
    createEvent({ author: 'desk', invocationId: `i${at}`, content: { role: 'model', parts: [{ text: 'Hi' }] } }),
  )
  await services.sessionService.createSession({ ...app, sessionId: 's1', events: filler })
  await services.artifactService.saveArtifact({ ...app, sessionId: 's1', filename: 'bill', artifact: { text: 'x' } })
  const { runner, paid } = desk(services, [PAY, 'Paid.', 'Bye.'])
  const { pending } = await runner.complete({ ...original, message: 'Pay' })
  await runner.complete({ ...original, message: pending.map((request) => approve(request)) })
  expect(paid).toEqual(['s1'])
  const session = await services.sessionService.getSession({ ...app, sessionId: 's1' })
  const response = session?.events.findLast(({ content }) => content?.role === 'tool')
  return { before: response?.id ?? '' }
}

const fileNames = ({ artifactService }: Services) => artifactService.listArtifactKeys({ ...app, sessionId: 'copy' })

describe.each(stores)('a copy of a session $name', { timeout: 120_000 }, ({ open }) => {
  // 494 events: the first append of the copy ends with the approval, before the intent of the call
  test.each([0, 494])('that is killed at any commit runs no call again, after %i events', async (earlier) => {
    let ends = ''
    for (let n = 1; !ends.endsWith('complete, '); n++) {
      let now = 1_000_000
      const services = open({ now: () => now, leaseMs: LEASE_MS })
      const { before } = await payInSession(services, earlier)
      const { services: mortal, dead } = dying(services, n)
      const fork = desk(mortal, []).runner.fork({ ...original, before, newSessionId: 'copy' })
      const end = await Promise.race([fork.then(() => 'complete'), dead.then(() => 'killed')])
      const seen = await services.sessionService.listSessions(app)

      now += LEASE_MS
      const next = desk(services, ['Hello.'])
      for (const run of await next.runner.recover()) await collect(run)
      expect(next.paid).toEqual([])
      expect(await next.runner.pending()).toEqual([])
      const after = await services.sessionService.listSessions(app)
      expect(after.map(({ id }) => id)).toEqual(seen.map(({ id }) => id))
      if (seen.length === 1) {
        expect(await fileNames(services)).toEqual([])
        await services.sessionService.createSession({ ...app, sessionId: 'copy' }) // the key is free again
      } else {
        expect(await fileNames(services)).toEqual(['bill'])
        expect((await next.runner.complete({ userId: 'ada', sessionId: 'copy', message: 'Hi' })).text).toBe('Hello.')
        expect(next.paid).toEqual([])
      }
      ends += `${end === 'killed' && seen.length > 1 ? 'killed after the last commit' : end}, `
    }
    expect(ends).toMatch(/^(killed, ){5,}(killed after the last commit, )+complete, $/)
  })

  test('is removed by recover() if the disk was full, also for the clean-up', async () => {
    let now = 1_000_000
    const services = open({ now: () => now, leaseMs: LEASE_MS })
    const { before } = await payInSession(services, 494)
    const { sessionService } = services
    const { runner, paid, logger } = desk(services, [])
    const full = () => Promise.reject(new Error('The disk is full.'))
    const append = sessionService.append.bind(sessionService)
    const appending = vi.spyOn(sessionService, 'append').mockImplementationOnce(append).mockImplementation(full)
    const releasing = vi.spyOn(sessionService, 'renew').mockImplementation(full)
    const fork = () => runner.fork({ ...original, before, newSessionId: 'copy' })
    await expect(fork()).rejects.toThrow('The disk is full.')
    expect(logger.lines.join()).toContain('recover() removes it')
    appending.mockRestore()
    releasing.mockRestore()

    await expect(fork()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    expect(await runner.recover()).toEqual([]) // its lease is alive
    await expect(fork()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    now += LEASE_MS
    expect(await runner.recover()).toEqual([])
    expect(await fileNames(services)).toEqual([])
    await fork()
    expect(await fileNames(services)).toEqual(['bill'])
    expect(paid).toEqual([])
  })

  test('that takes longer than its lease is not removed', async () => {
    let now = 1_000_000
    const services = open({ now: () => now, leaseMs: LEASE_MS })
    const { before } = await payInSession(services, 0)
    const timers = new ManualTimers()
    const { runner } = desk(services, [], { ports: timers.ports })
    const held = createDeferred()
    const load = services.artifactService.loadArtifact.bind(services.artifactService)
    vi.spyOn(services.artifactService, 'loadArtifact').mockImplementation((file) => held.promise.then(() => load(file)))
    const forking = runner.fork({ ...original, before, newSessionId: 'copy' })
    const renewed = vi.spyOn(services.sessionService, 'renew')
    for (let times = 1; times <= 6; times++) {
      now += LEASE_MS / 3
      await timers.fire(LEASE_MS / 3)
      await renewed.mock.results.at(-1)?.value
      await desk(services, []).runner.recover()
    }
    held.resolve()
    await forking
    expect(timers.count(LEASE_MS / 3)).toBe(0)
    expect(await fileNames(services)).toEqual(['bill'])
    expect(await services.sessionService.listSessions(app)).toHaveLength(2)
  })

  test('is a success if the store reports an error after the last commit', async () => {
    const services = open()
    const { before } = await payInSession(services, 0)
    const { sessionService } = services
    const append = sessionService.append.bind(sessionService)
    vi.spyOn(sessionService, 'append').mockImplementation(async (lease, seq, entries, options) => {
      const last = await append(lease, seq, entries, options)
      if (options?.completesCopy) throw new Error('The answer was lost.')
      return last
    })
    await desk(services, []).runner.fork({ ...original, before, newSessionId: 'copy' })
    expect(await fileNames(services)).toEqual(['bill'])
  })
})

test('a store that cannot hide an unfinished copy refuses to copy sessions', async () => {
  const store = new InMemorySessionService()
  const sessionService = new Proxy<SessionService>(store, {
    get: (target, member) => {
      const value: unknown = member === 'createCopy' ? undefined : Reflect.get(target, member)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const { runner } = desk({ sessionService }, ['Hello.'])
  const { invocationId } = await runner.complete({ ...original, message: 'Hi' })
  const fork = runner.fork({ ...original, before: invocationId })
  await expect(fork).rejects.toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringContaining('createCopy()') })
  expect(await store.listSessions(app)).toHaveLength(1)
})
