// Files that are deleted, replaced or truncated while open, or lack tables: the error says so, and nothing is written.
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { entryOf, HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { InboxItem, Lease } from '../../services/session/service.ts'
import { type SqliteServices, sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

if (process.platform === 'win32') console.warn('NOT TESTED: deleting an open file, which Windows does not allow.')

const storage = (message: string) => ({ code: 'STORAGE', message: expect.stringContaining(message) })

/** All writing methods, by name. */
function writesOf(
  { sessionService, artifactService }: SqliteServices,
  lease: Lease,
): [string, () => Promise<unknown>][] {
  const item: InboxItem = { id: 'x', type: 'cancel' }
  return [
    ['createSession', () => sessionService.createSession({ ...HOME, sessionId: 'new' })],
    ['append', () => sessionService.append(lease, 1, [entryOf('lost')])],
    ['renew', () => sessionService.renew(lease)],
    ['post', () => sessionService.post(HOME, item)],
    ['saveArtifact', () => artifactService.saveArtifact({ ...HOME, filename: 'a', artifact: { text: 'x' } })],
    ['deleteArtifact', () => artifactService.deleteArtifact({ ...HOME, filename: 'a' })],
    ['release', () => sessionService.release(lease)],
    ['claim', () => sessionService.claim(HOME)],
    ['deleteSession', () => sessionService.deleteSession(HOME)],
  ]
}

/** A file with a claimed session. */
async function held(file: string): Promise<{ services: SqliteServices; lease: Lease }> {
  const services = sqlite(file)
  await services.sessionService.createSession(HOME)
  const lease = await services.sessionService.claim(HOME)
  await services.sessionService.append(lease, 0, [entryOf('e1')])
  return { services, lease }
}

describe.skipIf(process.platform === 'win32')('an open SQLite file', () => {
  test.each([
    ['deleted', (file: string) => rmSync(file), 'was deleted or moved while it was open'],
    ['moved', (file: string) => renameSync(file, `${file}.old`), 'was deleted or moved while it was open'],
    [
      'replaced by a copy',
      (file: string) => {
        copyFileSync(file, `${file}.copy`)
        renameSync(`${file}.copy`, file)
      },
      'was replaced while it was open',
    ],
    [
      'deleted and made again',
      (file: string) => {
        for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`)
        sqlite(file).close()
      },
      'was replaced while it was open',
    ],
    ['emptied', (file: string) => truncateSync(file), 'was emptied while it was open'],
  ])('rejects every write after the file was %s', async (_how, change, message) => {
    const file = temporaryFile()
    const { services, lease } = await held(file)
    change(file)
    for (const [name, write] of writesOf(services, lease)) {
      await expect(write(), name).rejects.toMatchObject(storage(message))
    }
    services.close()
  })

  test('rejects a claim when its write-ahead log was deleted, and names the log', async () => {
    const file = temporaryFile()
    const { services, lease } = await held(file)
    await services.sessionService.release(lease)
    rmSync(`${file}-wal`)
    await expect(services.sessionService.claim(HOME)).rejects.toMatchObject(storage(`"${file}-wal" was deleted`))
    services.close()
  })

  test('rejects a claim when the write-ahead log next to the target of its symbolic link was deleted', async () => {
    const file = temporaryFile()
    const link = temporaryFile()
    symlinkSync(file, link)
    const { services, lease } = await held(link)
    await services.sessionService.release(lease)
    await services.sessionService.release(await services.sessionService.claim(HOME)) // a symbolic link itself is fine
    rmSync(`${file}-wal`)
    await expect(services.sessionService.claim(HOME)).rejects.toMatchObject(storage(`"${file}-wal" was deleted`))
    services.close()
  })

  test('creates the target of a symbolic link readable by its owner only', async () => {
    const file = temporaryFile()
    const link = temporaryFile()
    symlinkSync(file, link)
    const { services } = await held(link)
    for (const end of ['', '-wal', '-shm']) expect(statSync(`${file}${end}`).mode & 0o777, end).toBe(0o600)
    services.close()
    using direct = sqlite(file)
    expect(await direct.sessionService.getSession(HOME)).toBeDefined()
  })

  test('accepts writes while other programs use, checkpoint, vacuum and copy it', async () => {
    const file = temporaryFile()
    const { services, lease } = await held(file)
    const other = new DatabaseSync(file)
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    other.exec('VACUUM')
    other.exec(`VACUUM INTO '${file}.backup'`)
    copyFileSync(file, `${file}.copy`)
    other.close()
    for (const [, write] of writesOf(services, lease)) await write()
    services.close()
  })

  test('keeps the locks of this process after a second sqlite() on it', async ({ skip }) => {
    const file = temporaryFile()
    const { services } = await held(file)
    const locks = locksOn(file)
    if (!locks?.length) skip('the system does not list locks')
    sqlite(file).close()
    await expect.poll(() => locksOn(file)).toEqual(locks)
    services.close()
  })
})

/** The locks on a file as Linux lists them. The list can repeat or miss a line when other processes change it meanwhile. */
function locksOn(file: string): string[] | undefined {
  if (!existsSync('/proc/locks')) return undefined
  const { ino } = statSync(file)
  const lines = readFileSync('/proc/locks', 'utf8').split('\n')
  return [...new Set(lines.filter((line) => line.includes(`:${ino} `)).map((line) => line.replace(/^\d+: /, '')))]
}

const TABLES = ['sessions', 'entries', 'state', 'inbox', 'pending', 'artifacts', 'meta']

test.each(TABLES)(
  'a SQLite file without its table %s causes an error while it is open and when it is opened',
  async (table) => {
    const file = temporaryFile()
    const { services, lease } = await held(file)
    change(file, `PRAGMA foreign_keys = OFF; DROP TABLE toolwright_${table}`)
    const failed = await failures(services, lease)
    expect(failed.length).toBeGreaterThan(0)
    const message = new RegExp(`has no valid tables: no such table: (main\\.)?toolwright_${table}`)
    for (const error of failed) {
      expect(error).toMatchObject({ code: 'STORAGE', message: expect.stringMatching(message) })
    }
    services.close()
    const whenOpened = table === 'meta' ? /table toolwright_sessions already exists/ : message
    expect(() => sqlite(file)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
    expect(() => sqlite(file)).toThrow(whenOpened)
  },
)

test('a SQLite file without a column causes an error while it is open and when it is opened', async () => {
  const file = temporaryFile()
  const { services, lease } = await held(file)
  change(file, 'ALTER TABLE toolwright_sessions DROP COLUMN lease_until')
  for (const error of await failures(services, lease)) {
    expect(error).toMatchObject(storage('has no valid tables: no such column: lease_until'))
  }
  services.close()
  expect(() => sqlite(file)).toThrow('has no valid tables: no such column: lease_until')
})

test.each([
  ['empty', ''],
  ['full of zeros', '\0'.repeat(8192)],
  ['text', 'these are notes, '.repeat(1000)],
])(
  'a SQLite file that was overwritten while open and is now %s causes errors that name the file',
  async (_what, text) => {
    const file = temporaryFile()
    const { services, lease } = await held(file)
    change(file, 'PRAGMA wal_checkpoint(TRUNCATE)')
    writeFileSync(file, text)
    for (const error of await failures(services, lease)) {
      expect(error).toBeInstanceOf(ToolwrightError)
      expect(error).toMatchObject({ code: 'STORAGE', message: expect.stringContaining(file) })
    }
    services.close()
  },
)

function change(file: string, sql: string): void {
  const other = new DatabaseSync(file)
  other.exec(sql)
  other.close()
}

/** The errors of all methods that fail. */
async function failures(services: SqliteServices, lease: Lease): Promise<unknown[]> {
  const { sessionService, artifactService } = services
  const reads: [string, () => Promise<unknown>][] = [
    ['getSession', () => sessionService.getSession(HOME)],
    ['listSessions', () => sessionService.listSessions(HOME)],
    ['read', () => sessionService.read(lease)],
    ['state', async () => [...(await sessionService.read(lease)).state.keys()]],
    ['inbox', () => sessionService.inbox(lease)],
    ['pending', () => sessionService.pending(HOME)],
    ['interrupted', () => sessionService.interrupted(HOME)],
    ['listArtifactKeys', () => artifactService.listArtifactKeys(HOME)],
  ]
  const failed: unknown[] = []
  for (const [, work] of [...reads, ...writesOf(services, lease)]) await work().catch((error) => failed.push(error))
  return failed
}

test.each(['file:///a%2Fb.db', 'file:///a%00b.db'])('sqlite() rejects the URL %s, which is not a file path', (href) => {
  expect(() => sqlite(new URL(href))).toThrow(
    expect.objectContaining({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining(`The URL "${href}" is not a file path`),
    }),
  )
})

test('sqlite() opens a file URL with escaped spaces', () => {
  const file = `${temporaryFile()} 1`
  sqlite(pathToFileURL(file)).close()
  expect(existsSync(file)).toBe(true)
})
