import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import {
  entryOf,
  eventIds,
  HOME,
  intentOf,
  requestOf,
  stateOf,
} from '../../adapters/testing/suites/session-fixtures.ts'
import type { Completion } from '../../engine/runner/completion.ts'
import type { Lease } from '../../services/session/service.ts'
import { startProcess } from './other-process.test-kit.ts'
import { shop } from './shop.test-kit.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

vi.setConfig({ testTimeout: 60_000 }) // processes start slowly on a busy machine

const TIME = 1_700_000_000_000
const LATER = TIME + 15_000

test('four processes can create the same SQLite file at once', async () => {
  const file = temporaryFile()
  const others = await Promise.all(Array.from({ length: 4 }, () => startProcess()))
  await Promise.all(others.map((other) => other.do('open', file)))
  await Promise.all(
    others.map((other, index) => other.do('call', 'createSession', { ...HOME, sessionId: `s${index}` })),
  )
  using services = sqlite(file)
  expect((await services.sessionService.listSessions(HOME)).map(({ id }) => id).sort()).toEqual([
    's0',
    's1',
    's2',
    's3',
  ])
})

test('exactly one of two processes claims a session, 200 times', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.sessionService.createSession(HOME)
  const others = await Promise.all([startProcess(file), startProcess(file)])
  let last = 0
  for (let round = 1; round <= 200; round++) {
    const claims = await Promise.allSettled(others.map((other) => other.do<Lease>('call', 'claim', HOME)))
    const [lease, ...more] = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []))
    const refused = claims.flatMap((claim) => (claim.status === 'rejected' ? [claim.reason.code] : []))
    expect([more, refused]).toEqual([[], ['SESSION_BUSY']])
    expect(lease?.epoch).toBeGreaterThan(last)
    last = lease?.epoch ?? 0
    // a lease is plain data: any process can release it
    if (lease) await services.sessionService.release(lease)
  }
})

test('two processes that compete for a session never hold it together', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.sessionService.createSession(HOME)
  const others = await Promise.all([startProcess(file), startProcess(file)])
  await Promise.all(others.map((other) => other.do('contend', 200)))
  const ids = (await eventIds(services.sessionService, HOME)) ?? []
  expect(ids).toHaveLength(800)
  const epochs: number[] = []
  for (let at = 0; at < ids.length; at += 2) {
    const [pid, n, , epoch] = ids[at]?.split(' ') ?? []
    expect(ids.slice(at, at + 2)).toEqual([`${pid} ${n} in ${epoch}`, `${pid} ${n} out ${epoch}`])
    epochs.push(Number(epoch))
  }
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b))
  expect(new Set(epochs).size).toBe(400)
})

test('after kill -9 during appends the log is complete and the session is listed as interrupted', async () => {
  const file = temporaryFile()
  let time = TIME
  using services = sqlite(file, { now: () => time })
  const { sessionService } = services
  await sessionService.createSession(HOME)
  let known = 0
  for (let kill = 0; kill < 5; kill++) {
    const victim = await startProcess(file, time)
    const wroteMore = victim.progress((seq) => Number(seq) >= known + 200)
    victim.do('appendForever').catch(() => {}) // rejects when the process dies
    await wroteMore
    await victim.kill()

    expect(await sessionService.interrupted(HOME), 'its lease is still alive').toEqual([])
    await expect(sessionService.claim(HOME)).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    time += 15_000
    expect(await sessionService.interrupted(HOME)).toEqual([HOME])
    const lease = await sessionService.claim(HOME)
    const { entries, state } = await sessionService.read(lease)
    expect(entries.length).toBeGreaterThanOrEqual(known + 200)
    expect(entries.length % 2, 'event and record are stored together').toBe(0)
    expect(entries).toEqual(
      entries.map((_, at) => ({
        seq: at + 1,
        ...(at % 2 === 0 ? entryOf(`e${at}`, { count: at / 2 + 1 }) : intentOf(`c${at - 1}`)),
      })),
    )
    expect(state.get('count')).toBe(entries.length / 2)
    known = entries.length
    await sessionService.release(lease)
  }
  const database = new DatabaseSync(file)
  expect(database.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' })
  database.close()
})

test('a process whose lease was taken over cannot write', async () => {
  const file = temporaryFile()
  using services = sqlite(file, { now: () => LATER })
  const { sessionService } = services
  const late = await startProcess(file, TIME)
  await late.do('call', 'createSession', HOME)
  const old = await late.do<Lease>('call', 'claim', HOME)
  await late.do('call', 'append', old, 0, [entryOf('e1', { color: 'red', 'user:x': 1 })])
  await late.do('call', 'post', HOME, { id: 'item', type: 'cancel' })

  const next = await sessionService.claim(HOME)
  const lost = { code: 'LEASE_LOST' }
  const change = [entryOf('x', { color: 'blue', 'user:x': 2, 'app:x': 3 }), intentOf('c1')]
  const options = { drained: ['item'], pending: { opened: [requestOf('r1')], closed: 'all' as const } }
  await expect(late.do('call', 'append', old, 1, change, options)).rejects.toMatchObject(lost)
  for (const method of ['read', 'inbox', 'renew'])
    await expect(late.do('call', method, old)).rejects.toMatchObject(lost)
  await late.do('call', 'release', old)

  expect(await eventIds(sessionService, HOME)).toEqual(['e1'])
  expect(await stateOf(sessionService, HOME)).toEqual({ color: 'red', 'user:x': 1 })
  expect(await sessionService.pending(HOME)).toEqual([])
  expect(await sessionService.inbox(next)).toHaveLength(1)
  expect(await sessionService.append(next, 1, [entryOf('e2')])).toBe(2)
})

test('a long-running call of one process is answered and finished in another', async () => {
  const file = temporaryFile()
  const first = await startProcess(file)
  const asked = await first.do<Completion>('order')
  expect(asked.pending).toMatchObject([{ id: 'order1', kind: 'longRunning', tool: 'order' }])
  await first.kill()

  using services = sqlite(file)
  const { send, model } = shop(services, ['It has arrived.'])
  const result = { functionResponse: { id: 'order1', name: 'order', response: { box: 'here' } } }
  const answered = await send([result])
  expect(answered).toMatchObject({ text: 'It has arrived.', pending: [], invocationId: asked.invocationId })
  expect(model.requests[0]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ box: 'here' })
  expect((await send([result])).events).toEqual(answered.events) // a repeated answer returns the same events
})

test('after a crash during a payment the next process reports an unknown outcome and does not pay again', async () => {
  const file = temporaryFile()
  const first = await startProcess(file, TIME)
  const paid = first.progress((what) => what === 'paid')
  first.do('pay').catch(() => {}) // the process is killed before it replies
  await paid
  await first.kill()

  using services = sqlite(file, { now: () => LATER })
  expect(await services.sessionService.interrupted({ appName: HOME.appName })).toEqual([HOME])
  const payments: string[] = []
  const { runner, model } = shop(services, ['I do not know whether it was paid.'], (what) => payments.push(what))
  for await (const _ of runner.resume(HOME));
  expect(payments).toEqual([])
  expect(model.requests[0]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toMatchObject({
    status: 'unknown_outcome',
    errorCode: 'UNKNOWN_OUTCOME',
  })
  expect(await services.sessionService.interrupted({ appName: HOME.appName })).toEqual([])
})
