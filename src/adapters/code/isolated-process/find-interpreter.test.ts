import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { hasPython } from '../executor.test-kit.ts'
import { resolveInterpreters } from '../languages/languages.ts'
import { realPath } from '../process/machine.ts'
import { findInterpreter } from './find-interpreter.ts'
import { buildSandboxView } from './sandbox-view.ts'

const folder = realPath(mkdtempSync(join(tmpdir(), 'toolwright-interpreter-'))) as string
afterAll(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'opt/lang/bin'), { recursive: true })
const program = join(folder, 'opt/lang/bin/lang')
writeFileSync(program, '#!/bin/sh\n')
chmodSync(program, 0o755)
symlinkSync(program, join(folder, 'lang'))

const find = (command: readonly string[], shown: readonly string[] = []) =>
  findInterpreter({ command, file: 'main' }, shown)

test('findInterpreter() shows no further path for a system program', async () => {
  expect(await find(['sh', '-x'])).toMatchObject({
    command: [expect.stringMatching(/^\/(usr\/)?bin\//), '-x'],
    paths: [],
  })
})

test('findInterpreter() shows the installation folder of a program behind a link', async () => {
  expect(await find([join(folder, 'lang')])).toMatchObject({ command: [program], paths: [join(folder, 'opt/lang')] })
  expect(await find([program], [join(folder, 'opt')])).toMatchObject({ paths: [] })
  expect(await find([program], [join(folder, 'opt/lan')])).toMatchObject({ paths: [join(folder, 'opt/lang')] })
})

test('findInterpreter() refuses to show a folder that contains the home folder', async () => {
  const { HOME } = process.env
  process.env.HOME = join(folder, 'opt/lang')
  try {
    expect(homedir()).toBe(join(folder, 'opt/lang'))
    await expect(find([program])).rejects.toThrow('List the folders the interpreter needs in readOnlyPaths')
    expect(await find([program], [join(folder, 'opt')])).toMatchObject({ paths: [] })
  } finally {
    process.env.HOME = HOME
  }
})

test('findInterpreter() uses the Node of this process for JavaScript', async () => {
  const node = resolveInterpreters(['javascript']).get('javascript')
  expect(node && (await findInterpreter(node, []))).toMatchObject({ command: [realPath(process.execPath), '{file}'] })
})

test.skipIf(!hasPython)('findInterpreter() asks Python for its path', async () => {
  const python = resolveInterpreters(['python']).get('python')
  const found = python && (await findInterpreter(python, []))
  expect(found?.command[0]).toMatch(/python/)
})

test('findInterpreter() rejects a program that is not Python', async () => {
  const command = [program, '{file}']
  await expect(findInterpreter({ command, file: 'main.py', isPython: true }, [])).rejects.toThrow(
    'is not a working Python interpreter',
  )
})

test('buildSandboxView() keeps system links and shows a linked path under both names', () => {
  const { binds, links } = buildSandboxView([join(folder, 'lang')])
  expect(binds).toContainEqual({ from: program, at: join(folder, 'lang') })
  expect(binds).toContainEqual({ from: program, at: program })
  expect(binds.map(({ at }) => at)).toContain('/usr')
  expect(links).toContainEqual({ at: '/etc/passwd', to: '/tmp/run/passwd' })
  expect(binds.some(({ at }) => ['/', '/etc', '/home', '/root', '/var', '/run'].includes(at))).toBe(false)
})
