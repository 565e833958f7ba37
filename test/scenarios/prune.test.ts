// Retention: old sessions are deleted, and sessions in use are not.
import { InMemoryMemoryService, LlmAgent, Runner, type SessionService, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stores } from '../stores.ts'

const DAY = 86_400_000
const app = { appName: 'shop' }

function openShop(open: (typeof stores)[0]['open']) {
  const clock = { time: 1_700_000_000_000 }
  const now = (): number => clock.time
  const services = { memoryService: new InMemoryMemoryService(), ...open({ now }) }
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
  const start = (steps: Parameters<typeof scriptedModel>[0] = Array(20).fill('Done.')): Runner => {
    const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => 'paid' })
    const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(steps), tools: [pay] })
    const runner = new Runner({ ...app, agent, ...services, logger, ports: { now, monotonicNow: now } })
    onTestFinished(() => runner.close())
    return runner
  }
  const left = async (userId = 'ada'): Promise<string[]> =>
    (await services.sessionService.listSessions({ ...app, userId })).map(({ id }) => id).sort()
  return { clock, services, start, left, warnings }
}

describe.each(stores)('prune(), with sessions $name,', ({ name, open }) => {
  test('deletes sessions that have not changed for long, with their artifacts and memory', async () => {
    const { clock, services, start, left } = openShop(open)
    const runner = start()
    for (const sessionId of ['old', 'used']) await runner.complete({ userId: 'ada', sessionId, message: 'canary' })
    const old = { ...app, userId: 'ada', sessionId: 'old' }
    const { artifactService, memoryService, sessionService } = services
    for (const filename of ['a.txt', 'user:b.txt'])
      await artifactService.saveArtifact({ ...old, filename, artifact: { text: 'x' } })
    const session = await sessionService.getSession(old)
    if (session) await memoryService.addSessionToMemory(session)
    clock.time += 31 * DAY
    await runner.complete({ userId: 'ada', sessionId: 'used', message: 'Hi' })
    expect(await runner.prune({ olderThan: 30 * DAY })).toEqual({ deleted: 1, kept: 0, failed: 0 })
    expect(await left()).toEqual(['used'])
    expect(await artifactService.listArtifactKeys(old)).toEqual(['user:b.txt'])
    expect((await memoryService.searchMemory({ ...old, query: 'canary' })).memories).toEqual([])
    expect(await runner.prune({ olderThan: 30 * DAY })).toEqual({ deleted: 0, kept: 0, failed: 0 })
  })

  test('keeps the latest sessions of each user', async () => {
    const { clock, start, left } = openShop(open)
    const runner = start()
    for (const sessionId of ['s1', 's2', 's3', 's4']) {
      await runner.complete({ userId: 'ada', sessionId, message: 'Hi' })
      clock.time += 1000
    }
    await runner.complete({ userId: 'eve', sessionId: 's1', message: 'Hi' })
    expect(await runner.prune({ maxSessionsPerUser: 2 })).toMatchObject({ deleted: 2 })
    expect([await left(), await left('eve')]).toEqual([['s3', 's4'], ['s1']])
  })

  test('keeps sessions with pending requests, unless keepPending is false', async () => {
    const { clock, start, left } = openShop(open)
    const runner = start([{ calls: [{ name: 'pay' }] }])
    await runner.complete({ userId: 'ada', sessionId: 'asks', message: 'Pay.' })
    clock.time += 31 * DAY
    expect(await runner.prune({ olderThan: DAY })).toMatchObject({ deleted: 0 })
    expect(await left()).toEqual(['asks'])
    expect(await runner.prune({ olderThan: DAY, keepPending: false })).toMatchObject({ deleted: 1 })
    expect(await runner.pending()).toEqual([])
  })

  test('keeps sessions with a run, interrupted work or items in the inbox', async () => {
    const { clock, services, start, left } = openShop(open)
    const { sessionService } = services
    const runner = start()
    for (const sessionId of ['held', 'dead', 'posted', 'free'])
      await sessionService.createSession({ ...app, userId: 'ada', sessionId })
    const key = (sessionId: string) => ({ ...app, userId: 'ada', sessionId })
    const dead = await sessionService.claim(key('dead'))
    await sessionService.release(dead, { interrupted: true })
    await sessionService.post(key('posted'), { id: 'i1', type: 'cancel' })
    clock.time += 31 * DAY
    await sessionService.claim(key('held'))
    expect(await runner.prune({ olderThan: DAY, keepPending: false })).toMatchObject({ deleted: 1 })
    expect(await left()).toEqual(['dead', 'held', 'posted'])
  })

  test('keeps sessions that were set aside with unfinished work, also one that is set aside meanwhile', async () => {
    const { clock, services, start, left } = openShop(open)
    const { sessionService } = services
    const runner = start()
    const key = (sessionId: string) => ({ ...app, userId: 'ada', sessionId })
    const setAside = async (sessionId: string): Promise<void> => {
      await sessionService.release(await sessionService.claim(key(sessionId)), {
        setAside: 'It dies.',
        interrupted: true,
      })
    }
    for (const sessionId of ['before', 'meanwhile', 'retried']) await sessionService.createSession(key(sessionId))
    for (const sessionId of ['before', 'retried']) await setAside(sessionId)
    await sessionService.release(await sessionService.claim(key('retried')))
    clock.time += 31 * DAY
    const found = sessionService.findPrunable?.bind(sessionService)
    sessionService.findPrunable = async (filter) => {
      const page = await found?.(filter)
      await setAside('meanwhile')
      return page ?? { items: [] }
    }
    for (const options of [{ olderThan: DAY }, { olderThan: DAY, maxSessionsPerUser: 1 }])
      await runner.prune({ ...options, keepPending: false })
    expect(await left()).toEqual(['before', 'meanwhile'])
  })

  test('keeps sessions with a schedule', async () => {
    const { clock, start, left } = openShop(open)
    const runner = start()
    const where = { userId: 'ada', sessionId: 's1' }
    await runner.complete({ ...where, message: 'Hi' })
    const { id } = await runner.schedule({ ...where, message: 'Again', at: new Date(clock.time + 60 * DAY) })
    clock.time += 31 * DAY
    expect(await runner.prune({ olderThan: DAY })).toEqual({ deleted: 0, kept: 1, failed: 0 })
    await runner.unschedule(id)
    expect(await runner.prune({ olderThan: DAY })).toMatchObject({ deleted: 1 })
    expect(await left()).toEqual([])
  })

  test('keeps a session whose schedule is stored just before the session is claimed', async () => {
    const { clock, services, start, left } = openShop(open)
    const runner = start()
    const where = { userId: 'ada', sessionId: 's1' }
    await runner.complete({ ...where, message: 'Hi' })
    clock.time += 31 * DAY
    const service = services.sessionService as SessionService & Required<Pick<SessionService, 'claimIdle'>>
    const claimIdle = service.claimIdle.bind(service)
    service.claimIdle = async (...args) => {
      await runner.schedule({ ...where, message: 'Again', at: new Date(clock.time + DAY) })
      return await claimIdle(...args)
    }
    expect(await runner.prune({ olderThan: DAY })).toEqual({ deleted: 0, kept: 1, failed: 0 })
    service.claimIdle = claimIdle
    expect([await left(), (await runner.schedules({ userId: 'ada' })).items.length]).toEqual([['s1'], 1])
    expect((await runner.complete({ ...where, message: 'Hi' })).text).toBe('Done.') // the lease is released
  })

  test('a message that comes while a session is pruned is not lost', async () => {
    const { clock, services, start, left } = openShop(open)
    const runner = start()
    const where = { userId: 'ada', sessionId: 's1' }
    await runner.complete({ ...where, message: 'first' })
    clock.time += 31 * DAY
    let during: Promise<unknown> | undefined
    const { memoryService } = services
    memoryService.deleteSession = async () => {
      during ??= runner.complete({ ...where, message: 'second' })
      await during.catch(() => {})
    }
    expect(await runner.prune({ olderThan: DAY })).toMatchObject({ deleted: 1 })
    await expect(during).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    expect((await runner.complete({ ...where, message: 'second' })).text).toBe('Done.')
    expect(await left()).toEqual(['s1'])
  })

  test('a session that a run takes first stays', async () => {
    const { clock, services, start, left } = openShop(open)
    const runner = start()
    const where = { userId: 'ada', sessionId: 's1' }
    await runner.complete({ ...where, message: 'first' })
    clock.time += 31 * DAY
    const service = services.sessionService as SessionService & Required<Pick<SessionService, 'findPrunable'>>
    const find = service.findPrunable.bind(service)
    service.findPrunable = async (filter) => {
      const page = await find(filter)
      await runner.complete({ ...where, message: 'second' })
      return page
    }
    expect(await runner.prune({ olderThan: DAY })).toEqual({ deleted: 0, kept: 1, failed: 0 })
    expect(await left()).toEqual(['s1'])
  })

  test('goes on after a session that cannot be deleted, and deletes it the next time', async () => {
    const { clock, services, start, left, warnings } = openShop(open)
    const runner = start()
    for (const sessionId of ['s1', 's2']) await runner.complete({ userId: 'ada', sessionId, message: 'Hi' })
    clock.time += 31 * DAY
    const { memoryService } = services
    const { deleteSession } = memoryService
    memoryService.deleteSession = async function (key) {
      if (key.sessionId === 's1') throw new Error('The memory is away.')
      await deleteSession.call(this, key)
    }
    expect(await runner.prune({ olderThan: DAY })).toEqual({ deleted: 1, kept: 0, failed: 1 })
    expect(warnings).toEqual(['Session "s1" was not pruned: The memory is away.'])
    expect(await left()).toEqual(['s1'])
    memoryService.deleteSession = deleteSession
    expect(await runner.prune({ olderThan: DAY })).toMatchObject({ deleted: 1 })
    expect(await left()).toEqual([])
  })

  test('deletes later what a process that died while it pruned has claimed', async () => {
    const { clock, services, start, left } = openShop(open)
    const runner = start()
    await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Hi' })
    clock.time += 31 * DAY
    const key = { ...app, userId: 'ada', sessionId: 's1' }
    const conditions = { unchangedSince: clock.time, withPending: false }
    expect(await services.sessionService.claimIdle?.(key, conditions)).toBeDefined()
    clock.time += DAY
    expect(await runner.prune({ olderThan: DAY })).toMatchObject({ deleted: 0 })
    for (const run of await runner.recover()) for await (const _ of run);
    expect(await runner.prune({ olderThan: DAY })).toMatchObject({ deleted: 1 })
    expect(await left()).toEqual([])
  })

  test('deletes many sessions by two runners at once, each session once', async () => {
    const { clock, services, start, left } = openShop(open)
    const { sessionService } = services
    const runners = [start(), start()]
    const count = name === 'on Postgres' ? 30 : 450 // a server takes a moment for each session
    for (let n = 0; n < count; n++)
      await sessionService.createSession({ ...app, userId: `user-${n % 7}`, sessionId: `s${n}` })
    clock.time += 31 * DAY
    const results = await Promise.all(runners.map((runner) => runner.prune({ olderThan: DAY })))
    expect(results[0]?.deleted).toBeGreaterThan(0)
    expect((results[0]?.deleted ?? 0) + (results[1]?.deleted ?? 0)).toBe(count)
    expect(await left('user-3')).toEqual([])
  })
})

test.each([
  [{}, 'needs olderThan, maxSessionsPerUser, or both'],
  [{ olderThan: -1 }, 'olderThan'],
  [{ olderThan: new Date(0) }, 'olderThan'],
  [{ maxSessionsPerUser: 1.5 }, 'maxSessionsPerUser'],
  [{ olderThan: 1, keepPendings: true }, 'keepPending'],
])('prune(%j) is refused', async (options, message) => {
  const runner = new Runner({ ...app, agent: new LlmAgent({ name: 'clerk', model: scriptedModel([]) }) })
  await expect(runner.prune(options as { olderThan: number })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining(message),
  })
})
