// Runs that are started at given times, on every store.
import {
  InMemoryScheduleService,
  LlmAgent,
  type RunContext,
  Runner,
  type RunnerOptions,
  type ScheduleService,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stores } from '../stores.ts'

const MINUTE = 60_000
const START = Date.UTC(2027, 0, 1)

function clock() {
  let time = START
  const set = (minutes: number): void => {
    time = START + minutes * MINUTE
  }
  return { now: () => time, set }
}

function logger() {
  const problems: string[] = []
  const note = (problem: string): void => void problems.push(problem)
  return { problems, warn: note, error: note }
}

type Services = Pick<RunnerOptions, 'sessionService'> & { readonly scheduleService: ScheduleService }

function desk(services: Services, now: () => number, more: Partial<RunnerOptions> = {}) {
  const ask = tool({ name: 'ask', description: 'Asks', requiresConfirmation: true, run: () => ({ ok: true }) })
  const model = scriptedModel(({ contents }) =>
    contents.at(-1)?.parts[0]?.text === 'Ask.' ? { calls: [{ name: 'ask', args: {} }] } : 'Done.',
  )
  const agent = new LlmAgent({ name: 'desk', model, tools: [ask] })
  const log = logger()
  const ports = { now, monotonicNow: () => performance.now() }
  const runner = new Runner({ appName: 'shop', agent, logger: log, ports, ...services, ...more })
  onTestFinished(() => runner.close())
  return { runner, problems: log.problems }
}

function work(runner: Runner): void {
  const stop = new AbortController()
  const ended = runner.work({ signal: stop.signal, pollMs: 10 })
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
}

describe.each(stores)('with sessions $name', ({ open }) => {
  function start() {
    const time = clock()
    const opened = open({ now: time.now })
    const services: Services = { scheduleService: new InMemoryScheduleService(), ...opened }
    const messages = async (sessionId: string): Promise<unknown[]> => {
      const session = await opened.sessionService.getSession({ appName: 'shop', userId: 'ada', sessionId })
      return (session?.events ?? [])
        .filter(({ author }) => author === 'user')
        .map(({ content }) => content?.parts[0]?.text)
    }
    const sessionIds = async (): Promise<string[]> =>
      (await opened.sessionService.listSessions({ appName: 'shop', userId: 'ada' })).map(({ id }) => id)
    return { time, services, messages, sessionIds, sessions: opened.sessionService }
  }

  test('each tick starts one run in a new session, with several workers', async () => {
    const { time, services, messages, sessionIds } = start()
    const workers = [desk(services, time.now), desk(services, time.now), desk(services, time.now)]
    const { id } = await (workers[0] as (typeof workers)[0]).runner.schedule({
      userId: 'ada',
      message: 'Report.',
      every: MINUTE,
    })
    for (const { runner } of workers) work(runner)
    for (let minute = 1; minute <= 5; minute++) {
      time.set(minute)
      await expect.poll(async () => (await sessionIds()).length).toBe(minute)
      // a minute later, another worker may claim a tick whose start is not stored
      const last = async () =>
        (await (workers[0] as (typeof workers)[0]).runner.schedules({ userId: 'ada' })).items[0]?.last?.at
      await expect.poll(last).toEqual(new Date(START + minute * MINUTE))
    }
    for (const sessionId of await sessionIds()) {
      await expect.poll(() => messages(sessionId)).toEqual(['Report.'])
      expect(sessionId).toMatch(/^schedule-/)
    }
    const [listed] = (await (workers[0] as (typeof workers)[0]).runner.schedules({ userId: 'ada' })).items
    expect(listed).toMatchObject({
      id,
      nextAt: new Date(START + 6 * MINUTE),
      last: { at: new Date(START + 5 * MINUTE) },
    })
    expect(workers.flatMap(({ problems }) => problems)).toEqual([])
  })

  test('a tick that was claimed before its user was deleted creates no session', async () => {
    const { time, services, sessionIds } = start()
    const { runner } = desk(services, time.now)
    await runner.schedule({ userId: 'ada', message: 'Report.', every: MINUTE })
    time.set(1)
    const stop = new AbortController()
    let claims = 0
    const runContext = async (): Promise<RunContext> => {
      claims++
      await runner.deleteUser({ userId: 'ada' })
      stop.abort()
      return {}
    }
    await runner.work({ signal: stop.signal, pollMs: 10, runContext })
    expect([claims, await sessionIds()]).toEqual([1, []])
  })

  test('a user who is deleted while a tick creates its session has no session afterwards', async () => {
    const { time, services, sessions, sessionIds } = start()
    const { runner, problems } = desk(services, time.now)
    await runner.schedule({ userId: 'ada', message: 'Report.', every: MINUTE })
    time.set(1)
    const stop = new AbortController()
    const { createSession } = sessions
    sessions.createSession = async (options) => {
      await runner.deleteUser({ userId: 'ada' })
      stop.abort()
      return await createSession.call(sessions, options)
    }
    await runner.work({ signal: stop.signal, pollMs: 10 })
    expect(await sessionIds()).toEqual([])
    expect(problems).toEqual([])
  })

  test('a worker that is suspended before it claims the session of its tick does not start a second run', async () => {
    const { time, services, sessions, sessionIds, messages } = start()
    const [slow, fast] = [desk(services, time.now).runner, desk(services, time.now).runner]
    await slow.schedule({ userId: 'ada', message: 'Report.', at: new Date(START + MINUTE), id: 'one' })
    time.set(1)
    const stop = new AbortController()
    const { createSession } = sessions
    sessions.createSession = async (options) => {
      sessions.createSession = createSession
      stop.abort()
      time.set(3) // its claim has ended
      work(fast)
      await expect.poll(async () => (await fast.schedules()).items[0]?.ended).toBe('completed')
      return await createSession.call(sessions, options)
    }
    await slow.work({ signal: stop.signal, pollMs: 10 })
    expect(await Promise.all((await sessionIds()).map(messages))).toEqual([['Report.']])
  })

  test('a schedule with a session waits while the session is in use or paused, and says so', async () => {
    const { time, services, messages, sessions } = start()
    const { runner } = desk(services, time.now)
    const { sessionId } = await runner.complete({ userId: 'ada', message: 'Ask.' })
    await runner.schedule({ userId: 'ada', sessionId, message: 'Report.', at: new Date(START + MINUTE), id: 'one' })
    work(runner)
    time.set(2)
    const schedule = async () => (await runner.schedules()).items[0]
    await expect.poll(async () => (await schedule())?.delayed).toContain('Answer its pending requests')
    expect(await messages(sessionId)).toEqual(['Ask.'])
    await runner.cancel({ userId: 'ada', sessionId })
    time.set(10)
    await expect.poll(() => messages(sessionId)).toEqual(['Ask.', 'Report.'])
    await expect.poll(async () => (await schedule())?.ended).toBe('completed')
    expect((await sessions.listSessions({ appName: 'shop', userId: 'ada' })).length).toBe(1)
  })

  test('a schedule for a session that does not exist is refused, and one whose session is deleted ends', async () => {
    const { time, services, sessionIds, sessions } = start()
    const { runner, problems } = desk(services, time.now)
    const options = { userId: 'ada', message: 'Report.', every: MINUTE }
    await expect(runner.schedule({ ...options, sessionId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const { sessionId } = await runner.complete({ userId: 'ada', message: 'Hello.' })
    await runner.schedule({ ...options, sessionId, id: 'mine' })
    await expect(runner.schedule({ ...options, userId: 'bob', sessionId })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await sessions.deleteSession({ appName: 'shop', userId: 'ada', sessionId })
    work(runner)
    time.set(1)
    await expect.poll(async () => (await runner.schedules()).items[0]?.ended).toBe('session-deleted')
    expect(await sessionIds()).toEqual([])
    expect(problems).toEqual([`Schedule "mine" has ended: its session "${sessionId}" was deleted.`])
  })

  test('deleting a session deletes its schedules', async () => {
    const { time, services } = start()
    const { runner } = desk(services, time.now)
    const { sessionId } = await runner.complete({ userId: 'ada', message: 'Hello.' })
    await runner.schedule({ userId: 'ada', sessionId, message: 'Report.', every: MINUTE })
    await runner.schedule({ userId: 'ada', message: 'Other.', every: MINUTE, id: 'other' })
    await runner.deleteSession({ userId: 'ada', sessionId })
    expect((await runner.schedules()).items.map(({ id }) => id)).toEqual(['other'])
  })

  test('the same id keeps an equal schedule, replaces another one, and is refused for another user', async () => {
    const { time, services } = start()
    const { runner } = desk(services, time.now)
    const options = { userId: 'ada', message: 'Report.', every: MINUTE, id: 'report' }
    const first = await runner.schedule(options)
    time.set(0.5)
    expect(await runner.schedule(options)).toEqual(first)
    const changed = await runner.schedule({ ...options, message: 'Summary.' })
    expect(changed.nextAt).toEqual(new Date(START + 1.5 * MINUTE))
    await expect(runner.schedule({ ...options, userId: 'bob' })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    expect((await runner.schedules()).items).toEqual([changed])
    expect(await runner.unschedule('report', { userId: 'bob' })).toBe(false)
    expect(await runner.unschedule('report')).toBe(true)
    expect(await runner.unschedule('report')).toBe(false)
    expect((await runner.schedules()).items).toEqual([])
  })

  test('a tick whose worker died before or after the first commit of the run starts exactly one run', async () => {
    for (const dies of ['before', 'after'] as const) {
      const { time, services, messages, sessionIds } = start()
      const { scheduleService } = services
      let saves = 0
      // the claim is stored, then nothing more: neither the end of the tick nor why it did not start
      const dying: ScheduleService = {
        getSchedule: (...args) => scheduleService.getSchedule(...args),
        saveSchedule: (...args) => (saves++ < 2 ? scheduleService.saveSchedule(...args) : new Promise(() => {})),
        deleteSchedule: (...args) => scheduleService.deleteSchedule(...args),
        listSchedules: (...args) => scheduleService.listSchedules(...args),
        dueSchedules: (...args) => scheduleService.dueSchedules(...args),
        deleteSession: (...args) => scheduleService.deleteSession(...args),
        deleteUser: (...args) => scheduleService.deleteUser(...args),
      }
      const reached = Promise.withResolvers<void>()
      const beforeRun = (): Promise<void> => {
        reached.resolve()
        return new Promise(() => {})
      }
      const first = desk(
        { ...services, scheduleService: dying },
        time.now,
        dies === 'before' ? { plugins: [{ name: 'killed', beforeRun }] } : {},
      )
      await first.runner.schedule({ userId: 'ada', message: 'Report.', at: new Date(START + MINUTE) })
      const stop = new AbortController()
      void first.runner.work({ signal: stop.signal, pollMs: 10, graceMs: 0 })
      time.set(1)
      const recorded = async () => (await Promise.all((await sessionIds()).map(messages))).flat()
      if (dies === 'before') await reached.promise
      else await expect.poll(recorded).toEqual(['Report.'])
      await first.runner.close({ interrupt: true })
      stop.abort()
      const second = desk(services, time.now)
      work(second.runner)
      time.set(3)
      await expect
        .poll(async () => (await second.runner.schedules()).items[0]?.ended, { timeout: 20_000 })
        .toBe('completed')
      const [sessionId = ''] = await sessionIds()
      expect([dies, await sessionIds(), await messages(sessionId)]).toEqual([dies, [sessionId], ['Report.']])
    }
  })

  test('a run that cannot start is tried again, reported twice, and given up', async () => {
    const { time, services, sessionIds } = start()
    const failing = { name: 'tenant', beforeRun: () => Promise.reject(new Error('The tenant is unknown.')) }
    const { runner, problems } = desk(services, time.now, { plugins: [failing] })
    await runner.schedule({ userId: 'ada', message: 'Report.', at: new Date(START + MINUTE), id: 'one' })
    work(runner)
    let minute = 1
    await expect
      .poll(
        async () => {
          minute += 10
          time.set(minute)
          return (await runner.schedules()).items[0]?.ended
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBe('failed')
    expect((await sessionIds()).length).toBe(1)
    const own = problems.filter((problem) => problem.startsWith('Schedule'))
    expect(own).toEqual([
      'Schedule "one" could not start the run of a tick, and tries again: The tenant is unknown.',
      'Schedule "one" gives up a tick: The tenant is unknown.',
    ])
  }, 90_000)
})
