// Another program holds the write lock of the file: other work continues, and no result is lost.
import { spawnSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { entryOf, eventIds, HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import { startProcess } from './other-process.test-kit.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

vi.setConfig({ testTimeout: 60_000 }) // processes start slowly on a busy machine

const storage = (message: string) => ({ code: 'STORAGE', message: expect.stringContaining(message) })

/** Takes the write lock, like a backup program; the returned function releases it. */
function lock(file: string): () => void {
  const other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  const unlock = (): void => {
    if (!other.isOpen) return
    other.exec('ROLLBACK')
    other.close()
  }
  onTestFinished(unlock)
  return unlock
}

/** Waits for many turns of the event loop. */
async function turns(count = 50): Promise<number> {
  let done = 0
  while (done < count) {
    await setImmediate()
    done++
  }
  return done
}

test('a tool result is recorded after a locked file is unlocked, and other sessions run meanwhile', async () => {
  const file = temporaryFile()
  using services = sqlite(file, { busyTimeoutMs: 1 })
  let unlock = (): void => {}
  const charge = vi.fn(() => {
    unlock = lock(file)
    return { charged: true }
  })
  const model = scriptedModel([{ calls: [{ id: 'c1', name: 'charge' }] }, 'charged'])
  const charger = tool({ name: 'charge', description: 'Charges', run: charge })
  const agent = new LlmAgent({ name: 'clerk', model, tools: [charger] })
  const run = new Runner({ appName: HOME.appName, agent, ...services }).complete({ ...HOME, message: 'go' })
  await vi.waitFor(() => expect(charge).toHaveBeenCalledOnce())

  const bystander = new LlmAgent({ name: 'bystander', model: scriptedModel(['hello']) })
  const elsewhere = await new Runner({ appName: 'other', agent: bystander }).complete({ userId: 'bob', message: 'hi' })
  expect(elsewhere.text).toBe('hello')
  expect(await turns()).toBe(50)
  expect(await eventIds(services.sessionService, HOME), 'reads still work').toHaveLength(2)

  unlock()
  expect((await run).text).toBe('charged')
  const answered = model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse
  expect(answered?.response).toEqual({ charged: true })
  expect(charge).toHaveBeenCalledOnce()
})

test('appends, a renewal and a release that wait for the SQLite lock keep their order', async () => {
  const file = temporaryFile()
  using services = sqlite(file, { busyTimeoutMs: 1 })
  const { sessionService } = services
  await sessionService.createSession(HOME)
  const lease = await sessionService.claim(HOME)
  const other = await startProcess()
  await other.do('lock', file)
  const settled: string[] = []
  const note = <T>(name: string, work: Promise<T>): Promise<T> => work.finally(() => settled.push(name))
  const waiting = [
    note('first', sessionService.append(lease, 0, [entryOf('e1')])),
    note('renewal', sessionService.renew(lease)),
    note('second', sessionService.append(lease, 1, [entryOf('e2')])),
    note('release', sessionService.release(lease)),
  ]
  expect(await sessionService.inbox(lease), 'a read does not wait').toEqual([])
  expect(await turns()).toBe(50)
  expect(settled).toEqual([])
  await other.do('unlock')
  expect(await Promise.all(waiting)).toEqual([1, lease, 2, undefined])
  expect(settled).toEqual(['first', 'renewal', 'second', 'release'])
  expect(await eventIds(sessionService, HOME)).toEqual(['e1', 'e2'])
})

test('the SQLite lock of a killed process is free at once', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.sessionService.createSession(HOME)
  const other = await startProcess()
  await other.do('lock', file)
  const claim = services.sessionService.claim(HOME)
  await other.kill()
  expect(await claim).toMatchObject({ key: HOME, seq: 0 })
})

test('a holder stops waiting for the SQLite lock when its lease ends, and writes nothing later', async () => {
  const file = temporaryFile()
  const clock = { time: 0 }
  using services = sqlite(file, { busyTimeoutMs: 1, now: () => clock.time })
  const { sessionService } = services
  await sessionService.createSession(HOME)
  const lease = await sessionService.claim(HOME)
  const unlock = lock(file)
  let isOver = false
  const append = sessionService.append(lease, 0, [entryOf('e1')]).finally(() => {
    isOver = true
  })
  append.catch(() => {}) // asserted below
  await expect(sessionService.post(HOME, { id: 'x', type: 'cancel' })).rejects.toMatchObject(storage('busyTimeoutMs'))
  expect(isOver, 'a caller without a lease stops waiting first').toBe(false)
  clock.time += lease.leaseMs
  await expect(append).rejects.toMatchObject(storage('raise busyTimeoutMs'))
  unlock()
  await turns()
  expect(await eventIds(sessionService, HOME)).toEqual([])
  const next = await sessionService.claim(HOME)
  await expect(sessionService.append(lease, 0, [entryOf('e1')])).rejects.toMatchObject({ code: 'LEASE_LOST' })
  expect(await sessionService.append(next, 0, [entryOf('e2')])).toBe(1)
})

test('a write that waits for the SQLite lock fails when the file is closed and is not written', async () => {
  const file = temporaryFile()
  const services = sqlite(file)
  await services.sessionService.createSession(HOME)
  const lease = await services.sessionService.claim(HOME)
  const unlock = lock(file)
  const append = services.sessionService.append(lease, 0, [entryOf('e1')])
  services.close()
  await expect(append).rejects.toMatchObject(storage('was closed'))
  unlock()
  await turns()
  using again = sqlite(file)
  expect(await eventIds(again.sessionService, HOME)).toEqual([])
})

test('a process exits after it closes the SQLite file while a write waits for the lock', () => {
  const { stdout, status } = program(`
    setImmediate(() => services.close())
    await services.sessionService.createSession(key).catch(({ code }) => console.log(code))`)
  expect({ stdout, status }).toEqual({ stdout: 'STORAGE\n', status: 0 })
})

test('a process stays alive while a write waits for the SQLite lock', () => {
  const { stdout, status } = program(`
    setTimeout(() => other.exec('ROLLBACK'), 20).unref()
    console.log((await services.sessionService.createSession(key)).id)`)
  expect({ stdout, status }).toEqual({ stdout: 's1\n', status: 0 })
})

/** Runs code in another process, in which `other` has locked the file of `services`. */
function program(code: string): { stdout: string; status: number | null } {
  const file = JSON.stringify(temporaryFile())
  const source = `import { DatabaseSync } from 'node:sqlite'
    const { sqlite } = await import(${JSON.stringify(new URL('./sqlite.ts', import.meta.url).href)})
    const services = sqlite(${file})
    const other = new DatabaseSync(${file})
    other.exec('BEGIN IMMEDIATE')
    const key = ${JSON.stringify(HOME)}
    ${code}`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { timeout: 50_000, encoding: 'utf8' })
  expect(stderr).toBe('')
  return { stdout, status }
}
