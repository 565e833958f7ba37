import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadEnvFile } from './env-file.ts'

function folderWith(content?: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-env-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  if (content !== undefined) writeFileSync(join(folder, '.env'), content)
  return folder
}

test('.env adds variables and never replaces one, not even an empty one', () => {
  const env = { SET: 'mine', EMPTY: '' }
  loadEnvFile(folderWith('\ufeff# keys\nexport NEW="a b" # why\r\nSET=theirs\nEMPTY=theirs\n\nLINES="one\ntwo"\n'), env)
  expect(env).toEqual({ SET: 'mine', EMPTY: '', NEW: 'a b', LINES: 'one\ntwo' })
})

test('a missing .env file changes nothing', () => {
  const env = {}
  loadEnvFile(folderWith(), env)
  expect(env).toEqual({})
})

test.each([
  ['a line without a value', 'A=1\nGEMINI_API_KEY: secret\n', 'line 2 is not NAME=value'],
  ['a merge conflict', '<<<<<<< HEAD\nA=secret\n', 'line 1 is not NAME=value'],
  ['an open quote', 'A=1\nB="secret\nC=2\n', 'the quote in line 2 is not closed'],
  ['another encoding', Buffer.from('\ufeffA=secret', 'utf16le'), 'is not UTF-8'],
])('.env with %s is rejected without showing a secret, and sets nothing', (_, content, problem) => {
  const env = {}
  const folder = folderWith(content)
  expect(() => loadEnvFile(folder, env)).toThrow(problem)
  expect(() => loadEnvFile(folder, env)).not.toThrow('secret')
  expect(env).toEqual({})
})

test('a folder named .env is rejected', () => {
  const folder = folderWith()
  mkdirSync(join(folder, '.env'))
  expect(() => loadEnvFile(folder, {})).toThrow(/Cannot read ".*\.env": EISDIR/)
})
