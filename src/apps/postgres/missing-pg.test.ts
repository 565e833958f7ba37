// A program whose project does not have the package `pg`.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

/** Runs a program in a folder that has the source of Toolwright, with or without its packages. */
async function runWith(hasPg: boolean, program: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-missing-pg-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(resolve('src'), join(folder, 'src'))
  if (hasPg) symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'program.mjs'), program)
  // packages are looked for beside the link, not in this repository
  const flags = ['--preserve-symlinks', '--preserve-symlinks-main', '--disable-warning=ExperimentalWarning']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, 'program.mjs'], { cwd: folder })
  return stdout
}

const PROGRAM = `
  import { postgres } from './src/apps/postgres/index.ts'
  const { sessionService } = postgres('postgres://ada:geheim@127.0.0.1:1/shop')
  console.log('imported')
  const error = await sessionService.getSession({ appName: 'shop', userId: 'ada', sessionId: 's1' }).catch((error) => error)
  console.log(error.code, error.message)
`

test('toolwright/postgres without the package pg can be imported, and its first use says what to install', async () => {
  expect(await runWith(false, PROGRAM)).toBe('imported\nMISSING_PEER "pg" is not installed. Run: npm i pg\n')
})

test('toolwright/postgres with the package pg connects', async () => {
  expect(await runWith(true, PROGRAM)).toMatch(/^imported\nSTORAGE .* nothing listens at this address/)
})
