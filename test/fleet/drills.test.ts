// Workers in processes of their own, which are killed, stopped and broken.
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { approve, LlmAgent, Runner } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import { restate } from 'toolwright/restate'
import { scriptedModel } from 'toolwright/testing'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { buildProgram } from '../crash/build-program.ts'
import type { DrillOptions } from './drill-program.ts'
import { openBalancer, queryRestate, sharedRestate } from './fleet.test-kit.ts'

const USER = 'ada'

let folder: string
let program: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'toolwright-drills-'))
  program = await buildProgram(folder, new URL('./drill-program.ts', import.meta.url))
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

/** An app with workers in processes. */
async function openDrill(settings: Partial<Pick<DrillOptions, 'maxCrashes' | 'leaseMs'>> = {}) {
  const { ingress, admin } = sharedRestate()
  const [own, secret] = [mkdtempSync(join(folder, 'drill-')), randomBytes(32).toString('hex')]
  const [appName, schema, postgresUrl] = [`drill-${randomUUID()}`, `drill_${randomUUID()}`, inject('postgresUrl')]
  const ownBalancer = await openBalancer()
  const services = postgres(postgresUrl, { schema })
  await services.ready()
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel([]) })
  const engine = restate({ ingress, secret })
  const logger = { warn: () => {}, error: () => {} } // without workers, a message waits for the sweep
  const web = new Runner({ appName, agent, engine, logger, ...services })
  const children = new Set<ChildProcess>()
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL')
    await web.close()
    await services.close()
  })
  const start = async ({ isBroken = false, balancer = ownBalancer } = {}): Promise<ChildProcess> => {
    const common = { appName, postgresUrl, schema, ingress, admin, url: balancer.url, secret, folder: own }
    const options: DrillOptions = { ...common, maxCrashes: 1_000, leaseMs: 10_000, ...settings, isBroken }
    const child = fork(program, [JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', isBroken ? 'ignore' : 'inherit', 'ipc'],
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    children.add(child)
    const exited = once(child, 'exit').then(([code]) => {
      children.delete(child)
      return Promise.reject(new Error(`A worker ended with ${code}.`))
    })
    exited.catch(() => {})
    const [{ port }] = (await Promise.race([once(child, 'message'), exited])) as [{ port: number }]
    balancer.ports.add(port)
    child.once('exit', () => balancer.ports.delete(port))
    return child
  }
  const eventsOf = async (sessionId: string): Promise<string> => {
    const session = await services.sessionService.getSession({ appName, userId: USER, sessionId })
    return JSON.stringify(session?.events ?? [])
  }
  return {
    appName,
    web,
    engine,
    sessionService: services.sessionService,
    folder: own,
    start,
    eventsOf,
    isDone: async (sessionId: string) => (await eventsOf(sessionId)).includes('"text":"done"'),
    notes: () => (existsSync(join(own, 'notes')) ? readFileSync(join(own, 'notes'), 'utf8').trim().split('\n') : []),
  }
}

type Drill = Awaited<ReturnType<typeof openDrill>>

/** Starts a worker for each that dies, until the work is done. Has Restate call it at once, as an operator can. */
async function withWorkers({ start, appName }: Drill, isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) {
    const worker = await start()
    const exited = once(worker, 'exit')
    let isDead = false
    void exited.then(() => {
      isDead = true
    })
    while (!isDead && !(await isDone())) {
      await resumeAll(appName)
      await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 100))])
    }
  }
}

/** How many calls of a session Restate has not completed. */
async function countUnfinished(appName: string, sessionId: string): Promise<number> {
  const rows = await queryRestate(
    `SELECT id FROM sys_invocation WHERE target_service_name = 'toolwright-${appName}' AND status <> 'completed'
       AND target_service_key = '${JSON.stringify([USER, sessionId])}'`,
  )
  return rows.length
}

/** Ends the pauses between attempts. */
async function resumeAll(appName: string): Promise<void> {
  const rows = await queryRestate(
    `SELECT id FROM sys_invocation WHERE target_service_name = 'toolwright-${appName}' AND status = 'backing-off'`,
  )
  const { admin } = sharedRestate()
  for (const { id } of rows) await fetch(new URL(`invocations/${id}/resume`, admin), { method: 'PATCH' })
}

const DEATHS = Number(process.env.FLEET_DEATHS ?? 5)

describe.skipIf(!inject('restate'))('a fleet', () => {
  test.each([
    ['before the intent', 1, '"paid":true'],
    ['after the intent', 0, 'UNKNOWN_OUTCOME'],
    ['after the effect', 1, 'UNKNOWN_OUTCOME'],
  ])(`runs an approved call once whose workers die ${DEATHS} times: %s`, async (moment, bodies, outcome) => {
    const drill = await openDrill()
    const { web } = drill
    const session = { userId: USER, sessionId: `${moment} x ${DEATHS}` }
    const first = await drill.start()
    await web.submit({ ...session, message: 'pay' })
    await expect.poll(() => web.pending(session)).toHaveLength(1)
    const exited = once(first, 'exit')
    await web.answer({ ...session, message: (await web.pending(session)).map((request) => approve(request)) })
    await exited
    await withWorkers(drill, () => drill.isDone(session.sessionId))
    expect(readFileSync(join(drill.folder, `deaths of ${session.sessionId}`), 'utf8')).toHaveLength(DEATHS)
    expect(drill.notes().filter((line) => line.startsWith('pay'))).toEqual(
      Array.from({ length: bodies }, () => `pay ${session.sessionId}`),
    )
    expect(await drill.eventsOf(session.sessionId)).toContain(outcome)
  })

  test('sets a session aside that ends its workers, runs others, and continues it when it is resumed', async () => {
    const drill = await openDrill({ maxCrashes: 3 })
    const { web, sessionService, appName } = drill
    const bad = { userId: USER, sessionId: 'bad' }
    await web.submit({ ...bad, message: 'crash' })
    const listed = async () => (await sessionService.setAside?.({ appName, limit: 10 }))?.items ?? []
    await withWorkers(drill, async () => (await listed()).length > 0)
    expect(await listed()).toEqual([
      {
        appName,
        ...bad,
        reason: '3 processes in a row died while they continued the session. Open calls: "crash".',
      },
    ])
    expect(drill.notes().filter((line) => line === 'crash bad')).toHaveLength(3)

    const good = { userId: USER, sessionId: 'good' }
    await web.submit({ ...good, message: 'stall' })
    await expect.poll(() => drill.isDone('good')).toBe(true)
    await web.submit({ ...bad, message: 'Hello.' })
    await expect.poll(() => countUnfinished(appName, 'bad')).toBe(0)
    expect(drill.notes().filter((line) => line === 'crash bad')).toHaveLength(3)
    expect(await listed()).toHaveLength(1)

    writeFileSync(join(drill.folder, 'mended'), '')
    await drill.engine.call({ appName, ...bad }, 'resume', {})
    expect(await drill.isDone('bad')).toBe(true)
    expect(await listed()).toEqual([])
  })

  test('refuses the writes of a worker that was stopped for longer than its lease, and wakes up', async () => {
    const drill = await openDrill({ leaseMs: 1_000 })
    const stopped = await drill.start()
    const session = { userId: USER, sessionId: 's1' }
    const stalled = once(stopped, 'message')
    await drill.web.submit({ ...session, message: 'stall' })
    await stalled
    stopped.kill('SIGSTOP')
    await drill.start()
    await expect.poll(() => drill.isDone('s1')).toBe(true)
    const log = await drill.eventsOf('s1')
    expect(log).toContain('UNKNOWN_OUTCOME') // at most once: the body may have taken effect
    stopped.kill('SIGCONT')
    await expect.poll(drill.notes).toContain('awake s1')
    await drill.web.submit({ ...session, sessionId: 's2', message: 'stall' })
    await expect.poll(() => drill.isDone('s2')).toBe(true)
    expect(drill.notes().filter((line) => line === 'stall s1')).toHaveLength(1)
    expect(await drill.eventsOf('s1')).toBe(log)
  })

  test('keeps a turn for its version when all workers of that are dead, and runs others on the next version', async () => {
    const drill = await openDrill()
    const old = await drill.start()
    const stalled = once(old, 'message')
    await drill.web.submit({ userId: USER, sessionId: 's1', message: 'stall' })
    await stalled
    old.kill('SIGSTOP') // Restate believes that it works
    await drill.start({ balancer: await openBalancer() })
    old.kill('SIGKILL')
    await drill.web.submit({ userId: USER, sessionId: 's2', message: 'stall' })
    await expect.poll(() => drill.isDone('s2')).toBe(true)
    expect(await drill.isDone('s1')).toBe(false)
    await drill.start()
    await expect.poll(() => drill.isDone('s1')).toBe(true)
    expect(await drill.eventsOf('s1')).toContain('UNKNOWN_OUTCOME')
  })

  test('goes on when the agent file of one worker does not load', async () => {
    const drill = await openDrill()
    await expect(drill.start({ isBroken: true })).rejects.toThrow('A worker ended with 1.')
    await drill.web.submit({ userId: USER, sessionId: 's1', message: 'stall' })
    await drill.start()
    await expect(drill.start({ isBroken: true })).rejects.toThrow('A worker ended with 1.')
    await expect.poll(() => drill.isDone('s1')).toBe(true)
  })
})
