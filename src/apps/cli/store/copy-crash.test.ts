// A copy that is killed. What it leaves is invisible, and the next copy completes it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventOf, HOME } from '../../../adapters/testing/suites/session-fixtures.ts'
import type { CopyFact } from '../../../services/sql/copy/copy-fact.ts'
import { copyStore } from '../../../services/sql/copy/copy-store.ts'
import { query, type SqlDatabase } from '../../../services/sql/sql.ts'
import type { SqliteDatabase } from '../../sqlite/database.ts'
import { openDatabase } from '../../sqlite/open-database.ts'
import { sqlite } from '../../sqlite/sqlite.ts'
import { temporaryFile } from '../../sqlite/temporary-file.test-kit.ts'
import { runCommandLine } from '../terminal.test-kit.ts'
import { filledFile, newPostgres, rowsOf } from './copied-stores.test-kit.ts'

const COPIES = query(`SELECT count(*) AS copies FROM toolwright_sessions WHERE app LIKE '"unfinished%'`)

class Killed extends Error {}

function open(file: string, monotonicNow?: () => number): SqliteDatabase {
  const database = openDatabase(file, { synchronous: 'normal', busyTimeoutMs: 5_000, monotonicNow })
  onTestFinished(() => database.close())
  return database
}

/** A target whose process dies before its n-th transaction that writes: no later one is made, also to clean up. */
function dying(target: SqliteDatabase, at: number): SqlDatabase {
  let writes = 0
  return new Proxy(target, {
    get(database, name) {
      const value: unknown = Reflect.get(database, name, database)
      if (typeof value !== 'function') return value
      if (name === 'write' && ++writes >= at) return () => Promise.reject(new Killed())
      return value.bind(database)
    },
  })
}

async function run(facts: AsyncIterable<CopyFact>): Promise<CopyFact[]> {
  const all: CopyFact[] = []
  for await (const fact of facts) all.push(fact)
  return all
}

/** A store with everything, and with a session of several pieces. */
async function largeFile(events = 5): Promise<string> {
  const file = await filledFile()
  const text = 'x'.repeat(700_000)
  const large = Array.from({ length: events }, (_, n) =>
    eventOf(`large ${n}`, { content: { role: 'user', parts: [{ text: `${n}${text}` }] } }),
  )
  using services = sqlite(file)
  await services.sessionService.createSession({ ...HOME, sessionId: 'large', events: large, state: { of: 'large' } })
  return file
}

test('a copy that dies before any of its transactions is completed by the next one', async () => {
  const source = open(await largeFile())
  const expected = await rowsOf(source)
  let hasDied = true
  let unfinished = 0
  for (let at = 1; hasDied; at++) {
    let time = 0
    const target = open(temporaryFile(), () => time)
    hasDied = await run(copyStore(source, dying(target, at))).then(
      () => false,
      (error: unknown) => {
        expect(error).toBeInstanceOf(Killed)
        return true
      },
    )
    unfinished += Number((await target.readOne(COPIES))[0]?.copies)
    time += 60_000 // the lease of the dead process ends
    const skipped = (await run(copyStore(source, target))).filter(({ type }) => type !== 'copied')
    expect([at, skipped]).toEqual([at, []])
    expect(await rowsOf(target)).toEqual(expected)
  }
  expect(unfinished).toBeGreaterThan(1)
})

test('a copy waits while another one writes the same session, and then copies it', async () => {
  const [source, file] = [open(await largeFile()), temporaryFile()]
  using other = sqlite(file)
  const lease = await other.sessionService.createCopy?.({ ...HOME, sessionId: 'large' })
  const target = open(file)
  const facts: CopyFact[] = []
  for await (const fact of copyStore(source, target)) {
    facts.push(fact)
    if (fact.type === 'waiting' && lease) await other.sessionService.release(lease)
  }
  expect(facts.filter(({ type }) => type !== 'copied')).toEqual([
    { type: 'waiting', what: 'session "large" of user "ada", app "shop"' },
  ])
  expect(await rowsOf(target)).toEqual(await rowsOf(source))
})

test('a session that changes while it is copied is left out, and nothing of it stays', async () => {
  const file = await largeFile()
  const [source, target] = [open(file), open(temporaryFile())]
  using services = sqlite(file)
  const isStarted = async (): Promise<boolean> => Number((await target.readOne(COPIES))[0]?.copies) > 0
  let hasChanged = false
  const changing = new Proxy(source, {
    get(database, name) {
      const value: unknown = Reflect.get(database, name, database)
      if (name !== 'read' || typeof value !== 'function')
        return typeof value === 'function' ? value.bind(database) : value
      return async (work: unknown) => {
        if (!hasChanged && (await isStarted())) {
          hasChanged = true
          const lease = await services.sessionService.claim({ ...HOME, sessionId: 'large' })
          await services.sessionService.append(lease, 5, [{ event: eventOf('new') }])
          await services.sessionService.release(lease)
        }
        return await value.call(database, work)
      }
    },
  })
  const skipped = (await run(copyStore(changing, target))).filter(({ type }) => type !== 'copied')
  expect(skipped).toEqual([
    {
      type: 'skipped',
      what: expect.stringContaining('"large"'),
      why: expect.stringContaining('changed while it was copied'),
    },
  ])
  expect(await isStarted()).toBe(false)
  expect(JSON.stringify(await rowsOf(target))).not.toContain('large')
  expect(await run(copyStore(source, target))).not.toContainEqual(expect.objectContaining({ type: 'skipped' }))
  expect(await rowsOf(target)).toEqual(await rowsOf(source))
})

test('toolwright store copy killed with kill -9 while it copies a session shows nothing of it, and continues', {
  timeout: 60_000,
}, async () => {
  const [file, { url, schema, open: openTarget, services }] = [await largeFile(60), newPostgres()]
  const args = ['store', 'copy', file, url, '--to-schema', schema]
  const node = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
  const target = openTarget()
  await target.readOne(COPIES) // creates the tables
  const child = spawn(process.execPath, [...node, resolve('src/apps/cli/index.ts'), ...args], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  while (!Number((await target.readOne(COPIES))[0]?.copies)) expect(child.exitCode).toBe(null)
  child.kill('SIGKILL')
  await ended
  expect(Number((await target.readOne(COPIES))[0]?.copies)).toBe(1)
  const { sessionService } = services()
  const key = { ...HOME, sessionId: 'large' }
  expect(await sessionService.getSession(key)).toBeUndefined()
  await expect(sessionService.claim(key)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await sessionService.interrupted({ appName: 'shop' })).not.toContainEqual(key)
  const { code, out, errors } = await runCommandLine(args)
  expect([code, errors]).toEqual([0, expect.stringContaining('Waiting for another copy of session "large"')])
  expect(out).toMatch(/^sessions +10 +10$/m)
  expect(await rowsOf(target)).toEqual(await rowsOf(open(file)))
})
