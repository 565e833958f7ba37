import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../terminal.test-kit.ts'
import { createStoreFolder } from './store-folder.ts'

const refund = 'test/examples/fixtures/refund.ts'
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

/** A working directory with a `.toolwright` of this mode. */
function workingFolder(mode?: number): { folder: string; store: string; db: string } {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const store = join(folder, '.toolwright')
  if (mode !== undefined) {
    mkdirSync(store)
    chmodSync(store, mode)
  }
  return { folder, store, db: join(store, 'refund.db') }
}

describe.skipIf(process.platform === 'win32')('.toolwright that already exists', () => {
  test.each([0o777, 0o755])(
    'with mode %o becomes readable by its owner only, and so does its database',
    async (mode) => {
      const { folder, store, db } = workingFolder(mode)
      writeFileSync(db, '')
      chmodSync(db, 0o666)
      expect((await runCommandLine(['run', refund, 'hi'], { folder })).code).toBe(0)
      expect([modeOf(store), modeOf(db)]).toEqual(['700', '600'])
    },
  )

  test('with stricter modes stays as it is', () => {
    const { store, db } = workingFolder(0o700)
    writeFileSync(db, '', { mode: 0o600 })
    createStoreFolder(db)
    expect([modeOf(store), modeOf(db)]).toEqual(['700', '600'])
  })

  test('is refused if it belongs to another user and others can write it', () => {
    const { store, db } = workingFolder(0o777)
    const other = statSync(store).uid + 1
    expect(() => createStoreFolder(db, other)).toThrow(
      `Sessions cannot be stored in "${store}": "${store}" belongs to another user, and others can write it (mode 777). Pass --db <file>, or --memory to store none.`,
    )
    expect([modeOf(store), readdirSync(store)]).toEqual(['777', []])
  })

  test('is refused if another user left a database in it that others can write', () => {
    const { store, db } = workingFolder(0o755)
    writeFileSync(db, '')
    chmodSync(db, 0o666)
    expect(() => createStoreFolder(db, statSync(store).uid + 1)).toThrow(`"${db}" belongs to another user`)
  })

  test('is used if it belongs to another user and only that user can write it', () => {
    const { store, db } = workingFolder(0o755)
    createStoreFolder(db, statSync(store).uid + 1)
    expect([modeOf(store), readdirSync(store)]).toEqual(['755', ['.gitignore']])
  })
})

test('a run that is refused because of its model leaves no folder and no database', async () => {
  const { folder, store } = workingFolder()
  const { code, errors } = await runCommandLine(['run', 'test/examples/fixtures/named-models.ts', 'hi'], { folder })
  expect([code, errors]).toEqual([1, expect.stringMatching(/needs a key|No provider has the model/)])
  expect(existsSync(store)).toBe(false)
  const db = join(folder, 'own.db')
  await runCommandLine(['run', 'test/examples/fixtures/named-models.ts', '--db', db, 'hi'], { folder })
  expect(existsSync(db)).toBe(false)
})

describe('--app for a file that exports a runner', () => {
  const runner = 'test/examples/fixtures/runner.ts'

  test.each([
    ['run', [runner, 'hi']],
    ['serve', [runner]],
    ['tool', [runner, '--list']],
    ['mcp', [runner]],
  ])('is refused by toolwright %s', async (command, args) => {
    const { code, errors } = await runCommandLine([command, ...args, '--app', 'other'], { input: '' })
    expect([code, errors]).toEqual([
      2,
      `toolwright: --app cannot be used with "${runner}": the file exports a Runner for the app "own". Remove --app.\n`,
    ])
  })

  test('is accepted if it is the app of the runner', async () => {
    expect((await runCommandLine(['tool', runner, '--list', '--app', 'own'])).code).toBe(0)
  })
})
