import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { filesIn, findProgram, installedIn, isPersonal, isWithin, linkTarget, realPath } from './machine.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-host-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['/allowed', '/allowed', true],
  ['/allowed/a', '/allowed', true],
  ['/allowed_evil', '/allowed', false],
  ['/allowed_evil/a', '/allowed', false],
  ['/', '/allowed', false],
  ['/a', '/', true],
])('%s is in %s: %s', (path, of, is) => {
  expect(isWithin(path, of)).toBe(is)
})

test('a program is found as a shell finds it', () => {
  const program = join(folder, 'mine')
  writeFileSync(program, '#!/bin/sh\n')
  expect(findProgram('mine', folder)).toBeUndefined()
  chmodSync(program, 0o755)
  expect(findProgram('mine', folder)).toBe(program)
  expect(findProgram(program)).toBe(program)
  expect(findProgram('sh', '')).toMatch(/\/sh$/)
  expect(findProgram('no-such-program')).toBeUndefined()
  expect(findProgram(folder)).toBeUndefined()
})

test('a link is seen as one, and followed when asked', () => {
  const link = join(folder, 'link')
  symlinkSync('mine', link)
  expect(linkTarget(link)).toBe('mine')
  expect(realPath(link)).toBe(realPath(join(folder, 'mine')))
  expect([linkTarget(folder), realPath(join(folder, 'nothing')), linkTarget('/nothing')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('a program comes with the folder it was installed in, or alone', () => {
  expect(installedIn('/opt/python/3.13/bin/python3')).toBe('/opt/python/3.13')
  expect(installedIn('/opt/deno')).toBe('/opt/deno')
})

test('what holds the home or the project is personal', () => {
  expect([homedir(), dirname(homedir()), '/', process.cwd(), dirname(process.cwd())].map(isPersonal)).not.toContain(
    false,
  )
  expect(
    [join(homedir(), '.tools'), join(process.cwd(), 'node_modules'), `${process.cwd()}_evil`].map(isPersonal),
  ).not.toContain(true)
})

test('files of a file system that is not there are none', () => {
  expect(filesIn('/proc/0/root/tmp')).toBe(0)
  expect(filesIn('/')).toBeGreaterThan(0)
})
