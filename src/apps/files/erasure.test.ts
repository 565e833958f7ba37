// The names and bytes in the folder after a session and a user were deleted.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { around, fillStore } from '../sqlite/canary-user.test-kit.ts'
import { sqlite } from '../sqlite/sqlite.ts'
import { temporaryFolder } from '../sqlite/temporary-file.test-kit.ts'
import { files } from './files.ts'

test('artifacts of a deleted session, and then of its deleted user, are in no name and no byte of the folder', {
  timeout: 60_000,
}, async () => {
  const folder = join(temporaryFolder(), 'artifacts')
  const services = {
    ...sqlite(':memory:', { encryptionKeys: [Buffer.alloc(32).toString('base64')] }),
    ...files(folder),
  }
  const runner = await fillStore(services, 'canaryuser', 'canarytalk')
  await fillStore(services, 'otheruser', 'othertalk')
  const content = (): string =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return entry.isDirectory() ? path : `${path}\n${readFileSync(path, 'latin1')}`
      })
      .join('\n')
  const words = (name: string): string[] =>
    ['talkfile', 'talkbytes', 'userfile', 'userbytes'].map((word) => name + word)
  for (const word of words('canary')) expect(content()).toContain(word)
  await runner.deleteSession({ userId: 'canaryuser', sessionId: 'canarytalk' })
  expect(around(content(), 'canarytalk')).toEqual([])
  expect(content()).toContain('canaryuserbytes')
  await runner.deleteUser({ userId: 'canaryuser' })
  expect(around(content(), 'canary')).toEqual([])
  for (const word of words('other')) expect(content()).toContain(word)
})
