// Workers in other processes that are killed at any moment.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sqlite } from 'toolwright/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from './kit.ts'
import { fastClock, reportRunner, type WorkerChild } from './worker-kit.ts'

const program = fileURLToPath(new URL('./worker-child.ts', import.meta.url))
const execArgv = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
const MINUTE = 60_000
const KILLS = 6

async function startWorker(options: WorkerChild): Promise<{ kill(): Promise<void>; stop(): Promise<number | null> }> {
  const child: ChildProcess = fork(program, [JSON.stringify(options)], { execArgv })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  await new Promise((resolve) => child.once('message', resolve))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  const stop = (): Promise<number | null> => {
    child.send('stop')
    return ended
  }
  return { kill, stop }
}

test('each tick starts exactly one run while workers are killed with kill -9, and no body runs twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-'))
  const child = { file: join(folder, 'app.db'), ledger: join(folder, 'ledger'), startedAt: Date.now() }
  writeFileSync(child.ledger, '')
  const services = sqlite(child.file, { leaseMs: 1_000, logger: silentLogger })
  onTestFinished(() => {
    services.close()
    rmSync(folder, { recursive: true })
  })
  const runner = reportRunner(services, child.ledger, fastClock(child.startedAt))
  onTestFinished(() => runner.close())
  const { nextAt: first } = await runner.schedule({
    userId: 'ada',
    message: 'Report.',
    every: MINUTE / 4,
    missed: 'all',
  })

  const workers = [await startWorker(child), await startWorker(child)]
  for (let kills = 0; kills < KILLS; kills++) {
    const [next] = workers.splice(kills % 2, 1)
    const before = readFileSync(child.ledger, 'utf8').length
    await expect
      .poll(() => readFileSync(child.ledger, 'utf8').length, { interval: 3, timeout: 30_000 })
      .not.toBe(before)
    await next?.kill()
    workers.push(await startWorker(child))
  }
  const lastEvents = async (): Promise<string[]> => {
    const sessions = await services.sessionService.listSessions({ appName: 'shop', userId: 'ada' })
    const read = sessions.map(({ id }) =>
      services.sessionService.getSession({ appName: 'shop', userId: 'ada', sessionId: id }),
    )
    return (await Promise.all(read)).map((session) => JSON.stringify(session?.events.at(-1)?.content))
  }
  const scheduled = async () => (await runner.schedules()).items[0]
  const until = fastClock(child.startedAt)()
  const isDone = async (): Promise<boolean> => ((await scheduled())?.nextAt?.getTime() ?? 0) > until
  await expect.poll(isDone, { timeout: 60_000 }).toBe(true)
  await runner.unschedule((await scheduled())?.id ?? '')
  // the lease of a killed worker may live, and its session is not interrupted until then
  await expect
    .poll(async () => (await lastEvents()).every((last) => last.includes('Done.')), { timeout: 60_000 })
    .toBe(true)
  expect(await Promise.all(workers.map((worker) => worker.stop()))).toEqual([0, 0])

  const sessions = await services.sessionService.listSessions({ appName: 'shop', userId: 'ada' })
  const ticks = sessions.map(({ id }) => Number(id.split('-').at(-1))).sort((one, other) => one - other)
  const expected = ticks.map((_, at) => (first?.getTime() ?? 0) + (at * MINUTE) / 4)
  expect(ticks).toEqual(expected)
  for (const { id } of sessions) {
    const key = { appName: 'shop', userId: 'ada', sessionId: id }
    const events = (await services.sessionService.getSession(key))?.events ?? []
    expect(events.filter(({ author }) => author === 'user')).toHaveLength(1)
    expect(JSON.stringify(events.at(-1)?.content)).toContain('Done.')
  }
  const runs = readFileSync(child.ledger, 'utf8').trim().split('\n')
  expect(new Set(runs).size).toBe(runs.length)
}, 180_000)
