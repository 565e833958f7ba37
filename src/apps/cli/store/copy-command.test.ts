import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFile, temporaryFolder } from '../../sqlite/temporary-file.test-kit.ts'
import { runCommandLine } from '../terminal.test-kit.ts'
import { filledFile, newPostgres, rowsOf, rowsOfFile } from './copied-stores.test-kit.ts'

test('a store copied from SQLite to Postgres and back has the same rows', async () => {
  const [file, back, { url, schema, open }] = [await filledFile(), temporaryFile(), newPostgres()]
  const there = await runCommandLine(['store', 'copy', file, url, '--to-schema', schema])
  expect(there).toMatchObject({ code: 0, errors: expect.stringContaining('need the same keys') })
  expect(there.out).toMatch(/^sessions +9 +9$/m)
  expect(there.out).toMatch(/^artifact versions +5 +5$/m)
  const copied = await rowsOf(open())
  expect(copied).toEqual(await rowsOfFile(file))
  expect(copied.every((rows) => rows.length > 0)).toBe(true)
  const again = await runCommandLine(['store', 'copy', url, back, '--from-schema', schema])
  expect(again.code).toBe(0)
  expect(await rowsOfFile(back)).toEqual(copied)
})
