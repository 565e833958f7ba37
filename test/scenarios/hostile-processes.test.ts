// Several processes want the same session at once, or one of them stands still and comes back too late.
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { approve, type Completion } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { OtherProcess } from '../../src/sqlite/other-process.test-kit.ts'
import { about, finals, process as here, say, stored } from './approvals-kit.ts'
import { LEASE_MS, leftHanging, resumed } from './hostile-kit.ts'
import { bare, until } from './kit.ts'

if (process.platform !== 'linux')
  console.warn('NOT TESTED: a stopped process, whose state is read from /proc on Linux.')

const NOW = 1_800_000_000_000
const LATER = NOW + LEASE_MS
const program = fileURLToPath(new URL('./hostile-process.ts', import.meta.url))
const execArgv = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
const typed = ['done', 'SESSION_BUSY', 'ALREADY_ANSWERED', 'NOT_FOUND', 'LEASE_LOST']

let children: ChildProcess[] = []
let others: OtherProcess[] = []
beforeAll(async () => {
  children = Array.from({ length: 5 }, () => fork(program, { execArgv }))
  others = children.map((child) => new OtherProcess(child))
  await Promise.all(others.map((other) => other.do('finish'))) // they have started when they have done something
}, 60_000)
afterAll(async () => {
  await Promise.all(others.map((other) => other.kill()))
})

/** A file of its own that the others have open, and where their tool leaves a line for each run. */
async function shared(how: { time: number; processes: number }): Promise<{ file: string; runs(): number }> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [file, ledger] = [join(folder, 'app.db'), join(folder, 'ledger')]
  await Promise.all(others.slice(0, how.processes).map((other) => other.do('open', file, how.time, ledger)))
  return { file, runs: () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n').length : 0) }
}

test('a hundred times the same yes, from four processes at once, runs it once [DG-06]', async () => {
  const { file, runs } = await shared({ time: NOW, processes: 4 })
  using services = sqlite(file, { now: () => NOW })
  const gated = bare('pay', () => {}, { effect: 'idempotent', requiresConfirmation: true })
  const { sessionService } = services
  const steps = [{ calls: [{ id: 'c1', name: 'pay' }] }]
  const { pending } = await say(here(sessionService, { tools: [gated], steps }).runner)
  expect(runs()).toBe(0)
  const yes = approve(about(pending))
  const told = await Promise.all(others.slice(0, 4).map((other) => other.do<string[]>('answer', 25, yes)))
  expect(runs()).toBe(1)
  expect(told.flat()).toHaveLength(100)
  expect(told.flat()).toContain('done')
  expect(told.flat().filter((one) => !typed.includes(one))).toEqual([])
  const events = await stored(sessionService)
  expect(finals(events)).toEqual({ c1: { paid: true } })
  const responses = events.filter(({ content }) => content?.parts.some((part) => part.functionResponse?.id === 'c1'))
  expect(responses).toHaveLength(1)
})

test('fifty resumes from five processes at once go on with it once [PR-06]', async () => {
  const { file, runs } = await shared({ time: LATER, processes: 5 })
  using services = sqlite(file, { now: () => NOW })
  const { sessionService } = services
  const steps = [{ calls: [{ id: 'c1', name: 'pay' }] }]
  await leftHanging(sessionService, (run) => bare('pay', run, { effect: 'idempotent' }), steps)
  const told = await Promise.all(others.map((other) => other.do<string[]>('resume', 10)))
  expect(runs()).toBe(1)
  expect(told.flat()).toHaveLength(50)
  expect(told.flat()).toContain('done')
  expect(told.flat().filter((one) => !typed.includes(one))).toEqual([])
  expect(finals(await stored(sessionService))).toEqual({ c1: { paid: true } })
})

describe.skipIf(process.platform !== 'linux')('a process that stands still in the middle of a call', () => {
  async function stopped(): Promise<{ file: string; other: OtherProcess; run: Promise<Completion>; goOn(): void }> {
    const { file } = await shared({ time: NOW, processes: 1 })
    const [other, child] = [others[0] as OtherProcess, children[0] as ChildProcess]
    const began = other.progress((what) => what === 'began')
    const run = other.do<Completion>('hang')
    run.catch(() => {}) // looked at later
    await began
    child.kill('SIGSTOP')
    await until(() => readFileSync(`/proc/${child.pid}/stat`, 'utf8').includes(') T '))
    return { file, other, run, goOn: () => child.kill('SIGCONT') }
  }

  test('and comes back after another has taken over: its lease is lost, its body is told, it writes nothing [PR-05]', async () => {
    const { file, other, run, goOn } = await stopped()
    using services = sqlite(file, { now: () => LATER })
    const { sessionService } = services
    const { runner, model } = here(sessionService, {
      tools: [bare('hang', () => {}, { effect: 'atMostOnce' })],
      steps: ['so be it', 'yes'],
    })
    expect(await resumed(runner)).toBe('so be it')
    expect(model.requests[0]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toMatchObject({
      errorCode: 'UNKNOWN_OUTCOME',
    })
    const log = JSON.stringify(await stored(sessionService))
    const aborted = other.progress((what) => what === 'aborted')
    goOn()
    await other.do('renew')
    await expect(run).rejects.toMatchObject({ code: 'LEASE_LOST' })
    await aborted
    await other.do('finish') // what the body says now is for nobody
    expect(JSON.stringify(await stored(sessionService))).toBe(log)
    expect((await say(runner, 'and now?')).text).toBe('yes')
  })

  test('and comes back in time goes on as if nothing had been [PR-05]', async () => {
    const { file, other, run, goOn } = await stopped()
    using services = sqlite(file, { now: () => LATER - 1 })
    const { runner } = here(services.sessionService, { steps: [] })
    await expect(resumed(runner)).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    goOn()
    await other.do('renew')
    await other.do('finish')
    expect((await run).text).toBe('done')
    expect(finals(await stored(services.sessionService))).toEqual({ c1: { ok: true } })
  })
})
