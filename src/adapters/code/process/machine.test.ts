import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  countFiles,
  findProgram,
  holdsPersonalFiles,
  installFolderOf,
  isWithin,
  linkTarget,
  realPath,
} from './machine.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-machine-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['/allowed', '/allowed', true],
  ['/allowed/a', '/allowed', true],
  ['/allowed_evil', '/allowed', false],
  ['/allowed_evil/a', '/allowed', false],
  ['/', '/allowed', false],
  ['/a', '/', true],
])('isWithin(%s, %s) is %s', (path, folder, expected) => {
  expect(isWithin(path, folder)).toBe(expected)
})

test('findProgram() finds a program on the PATH or by its path', () => {
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

test('linkTarget() reads a symbolic link, and realPath() follows the link', () => {
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

test('installFolderOf() finds the folder a program was installed in', () => {
  expect(installFolderOf('/opt/python/3.13/bin/python3')).toBe('/opt/python/3.13')
  expect(installFolderOf('/opt/deno')).toBe('/opt/deno')
})

test('holdsPersonalFiles() recognizes folders that contain the home or the project folder', () => {
  expect(
    [homedir(), dirname(homedir()), '/', process.cwd(), dirname(process.cwd())].map(holdsPersonalFiles),
  ).not.toContain(false)
  expect(
    [join(homedir(), '.tools'), join(process.cwd(), 'node_modules'), `${process.cwd()}_evil`].map(holdsPersonalFiles),
  ).not.toContain(true)
})

test('countFiles() counts no files on a file system that does not exist', () => {
  expect(countFiles('/proc/0/root/tmp')).toBe(0)
  expect(countFiles('/')).toBeGreaterThan(0)
})
