import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { scriptedModel } from '../../../adapters/testing/scripted-model.ts'
import { entryOf, eventOf, HOME, write } from '../../../adapters/testing/suites/session-fixtures.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { approve } from '../../../engine/runner/approvals/answer-parts.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { tool } from '../../../engine/tool/define-tool.ts'
import { runSql } from '../../postgres/database.test-kit.ts'
import { sqlite } from '../../sqlite/sqlite.ts'
import { temporaryFile } from '../../sqlite/temporary-file.test-kit.ts'
import { runCommandLine } from '../terminal.test-kit.ts'
import { filledFile, HOSTILE, newPostgres, rowsOf, rowsOfFile, type StoreServices } from './copied-stores.test-kit.ts'

const copy = (from: string, to: string, ...rest: string[]) => runCommandLine(['store', 'copy', from, to, ...rest])

/** Two files with a session of the same key. */
async function twoFiles(
  ours: (services: StoreServices) => Promise<unknown>,
  theirs: (services: StoreServices) => Promise<unknown>,
): Promise<{ from: string; to: string }> {
  const [from, to] = [temporaryFile(), temporaryFile()]
  for (const [file, write] of [
    [from, ours],
    [to, theirs],
  ] as const) {
    const services = sqlite(file)
    await write(services)
    services.close()
  }
  return { from, to }
}

describe('toolwright store copy', () => {
  test('copies from SQLite to Postgres and back, and all rows are the same', async () => {
    const [file, back, { url, schema, open }] = [await filledFile(), temporaryFile(), newPostgres()]
    const there = await copy(file, url, '--to-schema', schema)
    expect(there).toMatchObject({ code: 0, errors: expect.stringContaining('need the same keys') })
    expect(there.out).toMatch(/^ +from +to\nsessions +9 +9\nentries +10 +10$/m)
    expect(there.out).toMatch(/^artifact versions +5 +5$/m)
    const copied = await rowsOf(open())
    expect(copied).toEqual(await rowsOfFile(file))
    expect(copied.every((rows) => rows.length > 0)).toBe(true)
    expect(await copy(url, back, '--from-schema', schema)).toMatchObject({ code: 0 })
    expect(await rowsOfFile(back)).toEqual(copied)
  })

  test('copies credentials that programs with the same keys can use', async () => {
    const [file, { url, schema, services }] = [await filledFile(), newPostgres()]
    await copy(file, url, '--to-schema', schema)
    const { credentialService } = services()
    for (const id of HOSTILE) {
      const stored = await credentialService.load({ appName: id, userId: id, key: id })
      expect(stored?.credential).toEqual({ authType: 'apiKey', apiKey: id })
    }
  })

  test('creates no tables in a Postgres database that is named by mistake', async () => {
    const { url, schema } = newPostgres()
    const { code, errors } = await copy(url, temporaryFile(), '--from-schema', schema)
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining('has no tables of Toolwright') })
    const found = await runSql(`SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = '${schema}'`)
    expect(found).toEqual([])
  })

  test('copies from one schema of Postgres to another', async () => {
    const [one, other, file] = [newPostgres(), newPostgres(), await filledFile()]
    await copy(file, one.url, '--to-schema', one.schema)
    const ended = await copy(one.url, other.url, '--from-schema', one.schema, '--to-schema', other.schema)
    expect(ended.code).toBe(0)
    expect(await rowsOf(other.open())).toEqual(await rowsOf(one.open()))
  })

  test('adds state of a user, which runs on the target see', async () => {
    const [from, { url, schema, services }] = [temporaryFile(), newPostgres()]
    const source = sqlite(from)
    await source.sessionService.createSession({ ...HOME, state: { 'user:name': 'Ada' } })
    source.close()
    const { sessionService } = services()
    const key = { ...HOME, sessionId: 'running' }
    await sessionService.createSession(key)
    const lease = await sessionService.claim(key)
    const { state } = await sessionService.read(lease)
    expect(state.get('user:name')).toBeUndefined()
    expect((await copy(from, url, '--to-schema', schema)).errors).toContain('<to> has content of its own')
    await sessionService.renew(lease)
    expect(state.get('user:name')).toBe('Ada')
  })

  test('copies nothing twice', async () => {
    const [from, to] = [await filledFile(), temporaryFile()]
    await copy(from, to)
    const before = await rowsOfFile(to)
    expect(await copy(from, to)).toMatchObject({ code: 0, out: expect.stringMatching(/^sessions +9 +9$/m) })
    expect(await rowsOfFile(to)).toEqual(before)
  })

  test('moves a paused run to Postgres, where an approval pays once', async () => {
    const [file, { url, schema, services }] = [temporaryFile(), newPostgres()]
    const paid: string[] = []
    const shop = (store: StoreServices, steps: Parameters<typeof scriptedModel>[0]): Runner => {
      const pay = tool({
        name: 'pay',
        description: 'Pays',
        requiresConfirmation: true,
        run: (_args, { idempotencyKey }) => void paid.push(idempotencyKey),
      })
      return new Runner({
        appName: 'shop',
        agent: new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [pay] }),
        ...store,
      })
    }
    const local = sqlite(file)
    const { pending } = await shop(local, [{ calls: [{ name: 'pay' }] }]).complete({ ...HOME, message: 'Pay.' })
    local.close()
    expect(await copy(file, url, '--to-schema', schema)).toMatchObject({ code: 0 })
    const runner = shop(services(), ['Paid.'])
    expect(await runner.pending({})).toEqual(pending)
    const message = pending.map((request) => approve(request))
    expect((await runner.complete({ ...HOME, message })).text).toBe('Paid.')
    await runner.complete({ ...HOME, message })
    expect(paid).toHaveLength(1)
    await runner.close()
  })

  test('keeps a run that was interrupted for recover(), and gives the session to no holder', async () => {
    const [from, to] = [await filledFile(), temporaryFile()]
    await copy(from, to)
    using services = sqlite(to)
    const { sessionService } = services
    expect(await sessionService.interrupted({ appName: 'shop' })).toEqual([{ ...HOME, sessionId: 'interrupted' }])
    expect(await sessionService.claim(HOME)).toMatchObject({ seq: 2 })
  })

  test('keeps a session set aside, with the reason', async () => {
    const key = { ...HOME, sessionId: 'kills' }
    const { from, to } = await twoFiles(
      async ({ sessionService }) => {
        await sessionService.createSession(key)
        const lease = await sessionService.claim(key)
        await sessionService.release(lease, { setAside: 'It "dies" \0.', interrupted: true })
      },
      async () => {},
    )
    expect(await copy(from, to)).toMatchObject({ code: 0 })
    using services = sqlite(to)
    const { sessionService } = services
    const page = await sessionService.setAside?.({ appName: 'shop', limit: 10 })
    expect(page?.items).toMatchObject([{ ...key, reason: 'It "dies" \0.' }])
    expect(await sessionService.claim(key)).toMatchObject({ seq: 0 }) // nothing holds it
  })

  test('leaves out a session in use, copies the others, and copies it when its run has ended', async () => {
    const from = temporaryFile()
    const to = temporaryFile()
    using services = sqlite(from)
    await services.sessionService.createSession({ ...HOME, sessionId: 'idle' })
    await services.sessionService.createSession({ ...HOME, events: [eventOf('e1')] })
    const lease = await services.sessionService.claim(HOME)
    const { code, errors, out } = await copy(from, to)
    expect(code).toBe(1)
    expect(errors).toContain(
      'Not copied: session "s1" of user "ada", app "shop". A process is using it. Stop that process',
    )
    expect(out).toMatch(/^sessions +2 +1$/m)
    await services.sessionService.release(lease)
    expect(await copy(from, to)).toMatchObject({ code: 0 })
    expect(await rowsOfFile(to)).toEqual(await rowsOfFile(from))
  })

  test('leaves out sessions that the source has in part', async () => {
    const [from, to] = [temporaryFile(), temporaryFile()]
    using services = sqlite(from)
    await services.sessionService.createSession({ ...HOME, state: { tab: 1 } })
    await services.sessionService.createCopy?.({ ...HOME, sessionId: 'half', state: { tab: 2 } })
    expect(await copy(from, to)).toMatchObject({ code: 0, out: expect.stringMatching(/^sessions +1 +1$/m) })
    expect(JSON.stringify(await rowsOfFile(to))).not.toContain('half')
  })

  test('does not change the source', async () => {
    const from = await filledFile()
    const before = await rowsOfFile(from)
    await copy(from, temporaryFile())
    expect(await rowsOfFile(from)).toEqual(before)
  })

  test('tells after each hundred sessions how far it is', async () => {
    const from = temporaryFile()
    const services = sqlite(from)
    for (let n = 0; n < 210; n++) await services.sessionService.createSession({ ...HOME, sessionId: `s${n}` })
    services.close()
    const { code, errors } = await copy(from, temporaryFile())
    expect([code, errors.match(/^Copied .*$/gm)]).toEqual([
      0,
      ['Copied 100 of 210 sessions', 'Copied 200 of 210 sessions'],
    ])
  })
})

describe('toolwright store copy overwrites nothing: it reports', () => {
  test.each<
    [string, (services: StoreServices) => Promise<unknown>, (services: StoreServices) => Promise<unknown>, string]
  >([
    [
      'a session with another log',
      ({ sessionService }) => sessionService.createSession({ ...HOME, events: [eventOf('e1')] }),
      ({ sessionService }) => sessionService.createSession({ ...HOME, events: [eventOf('e2')] }),
      'Not copied: session "s1" of user "ada", app "shop". The target has a session with this id and another log',
    ],
    [
      'a session that went on in the target',
      ({ sessionService }) => sessionService.createSession({ ...HOME, events: [eventOf('e1')] }),
      async ({ sessionService }) => {
        await sessionService.createSession({ ...HOME, events: [eventOf('e1')] })
        await write(sessionService, HOME, entryOf('e2'))
      },
      'with this id and another log',
    ],
    [
      'a session without entries and with another state',
      ({ sessionService }) => sessionService.createSession({ ...HOME, state: { tab: 1 } }),
      ({ sessionService }) => sessionService.createSession({ ...HOME, state: { tab: 2 } }),
      'with this id and another log',
    ],
    [
      'another value in the state of the user',
      ({ sessionService }) => sessionService.createSession({ ...HOME, state: { 'user:name': 'Ada', 'user:ok': 1 } }),
      ({ sessionService }) => sessionService.createSession({ ...HOME, sessionId: 's2', state: { 'user:name': 'Eve' } }),
      'Not copied: state values: app "shop", user "ada", session "0", key "user:name". The target has it with another value',
    ],
    [
      'another version of an artifact, and adds no later one',
      async ({ artifactService }) => {
        for (const text of ['ours', 'latest'])
          await artifactService.saveArtifact({ ...HOME, filename: 'user:a', artifact: { text } })
      },
      ({ artifactService }) =>
        artifactService.saveArtifact({ ...HOME, filename: 'user:a', artifact: { text: 'theirs' } }),
      'Not copied: artifact versions: app "shop", user "ada", filename "user:a", version "0"',
    ],
    [
      'another pin',
      ({ sessionService }) => sessionService.pins.set({ appName: 'shop' }, 'mcp', 'ours'),
      ({ sessionService }) => sessionService.pins.set({ appName: 'shop' }, 'mcp', 'theirs'),
      'Not copied: pins: app "shop", name "mcp"',
    ],
  ])('%s', async (_, ours, theirs, message) => {
    const { from, to } = await twoFiles(ours, theirs)
    const before = await rowsOfFile(to)
    const { code, errors } = await copy(from, to)
    expect([code, errors]).toEqual([1, expect.stringContaining(message)])
    const stored = (rows: unknown[][]): string[] => rows.flat().map((row) => JSON.stringify(row))
    expect(stored(await rowsOfFile(to))).toEqual(expect.arrayContaining(stored(before)))
    expect(stored(await rowsOfFile(to)).join()).not.toMatch(/ours|latest/)
  })

  test('a store that also has something else', async () => {
    const { from, to } = await twoFiles(
      ({ sessionService }) => sessionService.createSession(HOME),
      ({ sessionService }) => sessionService.createSession({ ...HOME, userId: 'eve' }),
    )
    const { code, errors, out } = await copy(from, to)
    expect([code, errors]).toEqual([1, expect.stringContaining('<to> has content of its own')])
    expect(out).toMatch(/^sessions +1 +2$/m)
  })

  test('a session whose ids are too long for the target, and copies the others', async () => {
    const long = Array.from({ length: 1000 }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7919) % 20_000))).join('')
    const [from, { url, schema }] = [temporaryFile(), newPostgres()]
    const services = sqlite(from)
    const { sessionService, credentialService } = services
    await sessionService.createSession({ ...HOME, sessionId: 'older', events: [eventOf('e1')] })
    await sessionService.createSession({ ...HOME, events: [eventOf('e1')] })
    const credential = { authType: 'apiKey', apiKey: 'k' } as const
    for (const key of ['older', 'short'])
      await credentialService.save({ appName: 'shop', userId: 'ada', key, credential })
    services.close()
    const earlier = new DatabaseSync(from) // an earlier version stored longer ids
    earlier.prepare('UPDATE toolwright_sessions SET app = ?, user = ?, session = ? WHERE id = 1').run(long, long, long)
    earlier.prepare("UPDATE toolwright_credentials SET key = ? WHERE key = 'older'").run(long)
    earlier.close()
    const { code, errors, out } = await copy(from, url, '--to-schema', schema)
    expect([code, errors]).toEqual([1, expect.stringMatching(/^Not copied: session .* Use shorter ids/m)])
    expect(out).toMatch(/^sessions +2 +1$/m)
    expect(out).toMatch(/^credentials +2 +1$/m)
  })

  test('a session whose log is damaged, and copies the others', async () => {
    const { from, to } = await twoFiles(
      async ({ sessionService }) => {
        await sessionService.createSession({ ...HOME, events: [eventOf('e1'), eventOf('e2'), eventOf('e3')] })
        await sessionService.createSession({ ...HOME, sessionId: 'short', events: [eventOf('e1')] })
        await sessionService.createSession({ ...HOME, sessionId: 'sound' })
      },
      async () => {},
    )
    const connection = new DatabaseSync(from)
    connection.exec(
      'DELETE FROM toolwright_entries WHERE session = 1 AND seq = 2; UPDATE toolwright_sessions SET seq = 2 WHERE id = 2',
    )
    connection.close()
    const { code, errors, out } = await copy(from, to)
    expect([code, errors]).toEqual([1, expect.stringContaining('Entry 2 of its log is missing')])
    expect(errors).toContain('Not copied: session "short"')
    expect(out).toMatch(/^sessions +3 +1$/m)
  })
})

describe('toolwright store copy refuses', () => {
  const file = join(tmpdir(), 'toolwright-missing.db')
  test.each([
    ['one store', ['a.db'], 'Pass two stores'],
    ['three stores', ['a.db', 'b.db', 'c.db'], 'Pass two stores'],
    ['a file that does not exist', [file, 'b.db'], 'missing.db" does not exist'],
    ['the same file twice', ['package.json', './package.json'], '<from> and <to> are one store'],
    ['a URL of another database', ['mysql://u:secret@h/db', 'b.db'], 'a URL that starts with postgres://'],
    ['a store in memory', [':memory:', 'b.db'], 'A store is the path of a SQLite file'],
    ['a schema of a file', ['package.json', 'b.db', '--from-schema', 'x'], '--from-schema is for Postgres'],
  ])('%s', async (_, args, message) => {
    const { code, errors } = await runCommandLine(['store', 'copy', ...args])
    expect([code, errors]).toEqual([2, expect.stringContaining(message)])
    expect(errors).not.toContain('secret')
    expect(existsSync(file)).toBe(false)
  })

  test('a URL without a database, and names no password', async () => {
    const { code, errors } = await copy(await filledFile(), 'postgres://ada:secret@127.0.0.1:1')
    expect([code, errors]).toEqual([1, expect.stringContaining('names no database')])
    expect(errors).not.toContain('secret')
  })

  test('a server that is not there', async () => {
    const { code, errors } = await copy(await filledFile(), 'postgres://ada:secret@127.0.0.1:1/shop')
    expect([code, errors]).toEqual([1, expect.stringContaining('"shop" (127.0.0.1:1) cannot be reached')])
  })
})
