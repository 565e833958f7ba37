// Several processes use one session at the same time, or one process is stopped and continues after its lease expired.
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { approve, type Completion } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { OtherProcess } from '../../src/apps/sqlite/other-process.test-kit.ts'
import { finalResponses, requestFor, sendMessage, startProcess, storedEvents } from './approvals-kit.ts'
import { plainTool, waitUntil } from './kit.ts'
import { hangInBody, LEASE_MS, resumeSession } from './lease-kit.ts'

if (process.platform !== 'linux')
  console.warn('NOT TESTED: a stopped process, whose state is read from /proc on Linux.')

const NOW = 1_800_000_000_000
const LATER = NOW + LEASE_MS
const program = fileURLToPath(new URL('./concurrent-processes-child.ts', import.meta.url))
const execArgv = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
const typed = ['done', 'SESSION_BUSY', 'ALREADY_ANSWERED', 'NOT_FOUND', 'LEASE_LOST']

let children: ChildProcess[] = []
let others: OtherProcess[] = []
beforeAll(async () => {
  children = Array.from({ length: 5 }, () => fork(program, { execArgv }))
  others = children.map((child) => new OtherProcess(child))
  await Promise.all(others.map((other) => other.do('finish'))) // the first command has run: the process has started
}, 60_000)
afterAll(async () => {
  await Promise.all(others.map((other) => other.kill()))
})

/** Opens a new database file in the child processes; their tool appends a line to the ledger for each run. */
async function shared(how: { time: number; processes: number }): Promise<{ file: string; runs(): number }> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [file, ledger] = [join(folder, 'app.db'), join(folder, 'ledger')]
  await Promise.all(others.slice(0, how.processes).map((other) => other.do('open', file, how.time, ledger)))
  return { file, runs: () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n').length : 0) }
}

test('the runner runs the call once after a hundred equal approvals from four processes at the same time [DG-06]', async () => {
  const { file, runs } = await shared({ time: NOW, processes: 4 })
  using services = sqlite(file, { now: () => NOW })
  const gated = plainTool('pay', () => {}, { effect: 'idempotent', requiresConfirmation: true })
  const { sessionService } = services
  const steps = [{ calls: [{ id: 'c1', name: 'pay' }] }]
  const { pending } = await sendMessage(startProcess(sessionService, { tools: [gated], steps }).runner)
  expect(runs()).toBe(0)
  const yes = approve(requestFor(pending))
  const outcomes = await Promise.all(others.slice(0, 4).map((other) => other.do<string[]>('answer', 25, yes)))
  expect(runs()).toBe(1)
  expect(outcomes.flat()).toHaveLength(100)
  expect(outcomes.flat()).toContain('done')
  expect(outcomes.flat().filter((one) => !typed.includes(one))).toEqual([])
  const events = await storedEvents(sessionService)
  expect(finalResponses(events)).toEqual({ c1: { paid: true } })
  const responses = events.filter(({ content }) => content?.parts.some((part) => part.functionResponse?.id === 'c1'))
  expect(responses).toHaveLength(1)
})

test('the runner runs the call once after fifty resumes from five processes at the same time [PR-06]', async () => {
  const { file, runs } = await shared({ time: LATER, processes: 5 })
  using services = sqlite(file, { now: () => NOW })
  const { sessionService } = services
  const steps = [{ calls: [{ id: 'c1', name: 'pay' }] }]
  await hangInBody(sessionService, (run) => plainTool('pay', run, { effect: 'idempotent' }), steps)
  const outcomes = await Promise.all(others.map((other) => other.do<string[]>('resume', 10)))
  expect(runs()).toBe(1)
  expect(outcomes.flat()).toHaveLength(50)
  expect(outcomes.flat()).toContain('done')
  expect(outcomes.flat().filter((one) => !typed.includes(one))).toEqual([])
  expect(finalResponses(await storedEvents(sessionService))).toEqual({ c1: { paid: true } })
})

describe.skipIf(process.platform !== 'linux')('a process stopped with SIGSTOP during a call', () => {
  async function stopped(): Promise<{ file: string; other: OtherProcess; run: Promise<Completion>; goOn(): void }> {
    const { file } = await shared({ time: NOW, processes: 1 })
    const [other, child] = [others[0] as OtherProcess, children[0] as ChildProcess]
    const began = other.progress((what) => what === 'began')
    const run = other.do<Completion>('hang')
    run.catch(() => {}) // awaited later
    await began
    child.kill('SIGSTOP')
    await waitUntil(() => readFileSync(`/proc/${child.pid}/stat`, 'utf8').includes(') T '))
    return { file, other, run, goOn: () => child.kill('SIGCONT') }
  }

  test('gets LEASE_LOST after another process resumed, aborts its body and writes nothing [PR-05]', async () => {
    const { file, other, run, goOn } = await stopped()
    using services = sqlite(file, { now: () => LATER })
    const { sessionService } = services
    const { runner, model } = startProcess(sessionService, {
      tools: [plainTool('hang', () => {}, { effect: 'atMostOnce' })],
      steps: ['so be it', 'yes'],
    })
    expect(await resumeSession(runner)).toBe('so be it')
    expect(model.requests[0]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toMatchObject({
      errorCode: 'UNKNOWN_OUTCOME',
    })
    const log = JSON.stringify(await storedEvents(sessionService))
    const aborted = other.progress((what) => what === 'aborted')
    goOn()
    await other.do('renew')
    await expect(run).rejects.toMatchObject({ code: 'LEASE_LOST' })
    await aborted
    await other.do('finish') // the late result is dropped
    expect(JSON.stringify(await storedEvents(sessionService))).toBe(log)
    expect((await sendMessage(runner, 'and now?')).text).toBe('yes')
  })

  test('completes the run when it continues before its lease expires [PR-05]', async () => {
    const { file, other, run, goOn } = await stopped()
    using services = sqlite(file, { now: () => LATER - 1 })
    const { runner } = startProcess(services.sessionService, { steps: [] })
    await expect(resumeSession(runner)).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    goOn()
    await other.do('renew')
    await other.do('finish')
    expect((await run).text).toBe('done')
    expect(finalResponses(await storedEvents(services.sessionService))).toEqual({ c1: { ok: true } })
  })
})
