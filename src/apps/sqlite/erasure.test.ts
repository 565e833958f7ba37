// The bytes of the file after a session and a user were deleted.
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { around, fillStore, SESSION_CANARIES, USER_CANARIES } from './canary-user.test-kit.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

test('a deleted session, and then its deleted user, are in no byte of the file and its write-ahead log; others are', {
  timeout: 60_000,
}, async () => {
  const file = temporaryFile()
  const runner = await fillStore(sqlite(file), 'canaryuser', 'canarytalk')
  await fillStore(sqlite(file), 'otheruser', 'othertalk')
  const bytes = (): string => [file, `${file}-wal`].map((path) => readFileSync(path, 'latin1')).join('')
  const vacuum = (): void => {
    const connection = new DatabaseSync(file)
    connection.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
    connection.close()
  }
  for (const kind of SESSION_CANARIES) expect(bytes()).toContain(`canarytalk${kind}`)
  await runner.deleteSession({ userId: 'canaryuser', sessionId: 'canarytalk' })
  vacuum()
  expect(around(bytes(), 'canarytalk')).toEqual([])
  for (const kind of USER_CANARIES) expect(bytes()).toContain(`canaryuser${kind}`)
  await runner.deleteUser({ userId: 'canaryuser' })
  vacuum()
  expect(around(bytes(), 'canary')).toEqual([])
  for (const kind of SESSION_CANARIES) expect(bytes()).toContain(`othertalk${kind}`)
  for (const kind of USER_CANARIES) expect(bytes()).toContain(`otheruser${kind}`)
})
