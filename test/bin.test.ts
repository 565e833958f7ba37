// Users start the command with any Node. Its first file must run on an old Node and report the required version.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, dirname, join, posix, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Child, withoutKeys } from './examples/child.ts'
import { type Installed, installPacked } from './packed/install.ts'
import { importsOf, parse } from './source.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const bin = { file: 'dist/cli/index.js', text: readFileSync('dist/cli/index.js', 'utf8') }

test('the command checks the Node version before it loads other files', () => {
  expect(bin.text.startsWith('#!/usr/bin/env node\n')).toBe(true)
  expect(parse(bin).module.staticImports).toEqual([])
  expect(bin.text).toContain('process.versions.node')
})

test('the command loads files that are in dist', () => {
  const rest = importsOf(bin).map((specifier) => posix.join(posix.dirname(bin.file), specifier))
  expect(rest.length).toBeGreaterThan(0)
  expect(rest.filter((file) => !existsSync(file))).toEqual([])
})

// A new project, as a user makes it: the packed package, an empty folder, and the commands of its README.
describe('a project of toolwright create', () => {
  let app: Installed
  let project = ''
  let command = ''
  beforeAll(() => {
    app = installPacked()
    for (const name of ['hono', '@hono/node-server', 'ws', 'zod', '@types/node']) {
      const target = join(app.folder, 'node_modules', name)
      mkdirSync(join(target, '..'), { recursive: true })
      symlinkSync(resolve('node_modules', name), target, 'junction')
    }
    if (process.platform !== 'win32') {
      mkdirSync(join(app.folder, 'node_modules/.bin'))
      symlinkSync('../toolwright/dist/cli/index.js', join(app.folder, 'node_modules/.bin/toolwright'))
    }
    command = join(app.folder, 'node_modules/toolwright/dist/cli/index.js')
    const { status, stdout, stderr } = start(process.execPath, [command, 'create', 'my-shop'], app.folder)
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('Next:\n  cd my-shop\n  npm install\n  npm test\n  npm start\n')
    project = join(app.folder, 'my-shop') // its packages are those of the folder above
  })
  afterAll(() => app.remove())

  function start(program: string, args: readonly string[], cwd: string) {
    return spawnSync(program, args, {
      cwd,
      encoding: 'utf8',
      env: environment(),
      shell: program === 'npm' && process.platform === 'win32',
    })
  }

  /** The Node of the tests comes first, and no key is set. */
  function environment(): NodeJS.ProcessEnv {
    const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
    return { ...withoutKeys(), PATH: path, TOOLWRIGHT_TOKEN: '', NO_COLOR: '1' }
  }

  test('passes its own tests', () => {
    const { status, stdout } = start('npm', ['test'], project)
    expect(stdout).toMatch(/pass 3\n/)
    expect(status).toBe(0)
  })

  test('has no type error', () => {
    const tsc = resolve('node_modules/typescript/bin/tsc')
    const { status, stdout } = start(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], project)
    expect([status, stdout]).toEqual([0, ''])
  })

  test('is complete for toolwright doctor', () => {
    const args = [command, 'doctor', 'agent.ts', '--json']
    const { status, stdout, stderr } = start(process.execPath, args, project)
    expect([status, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ problems: 0 })
  })

  test.skipIf(process.platform === 'win32')('serves the workbench with npm start, on a free port', async () => {
    const blocker = createServer()
    await new Promise<void>((done) => blocker.once('error', () => done()).listen(8000, '127.0.0.1', done)) // or in use already
    onTestFinished(() => void blocker.close())
    // npm does not pass SIGTERM on, so the whole group gets it
    const child = new Child(['npm', 'start'], environment(), project, { detached: true })
    const signal = (name: 'SIGTERM' | 'SIGKILL'): unknown => child.process.pid && process.kill(-child.process.pid, name)
    onTestFinished(
      () => void (child.process.exitCode === null && child.process.signalCode === null && signal('SIGKILL')),
    )
    await child.until('Stop        Ctrl+C')
    const [, url = '', port = ''] = /^Workbench +(http:\/\/127\.0\.0\.1:(\d+)\/\?token=\S+)$/m.exec(child.out) ?? []
    expect(Number(port)).toBeGreaterThan(8000)
    const entered = await fetch(url, { redirect: 'manual' })
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    const page = await fetch(new URL('/', url), { headers: { cookie } })
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(await (await fetch(new URL('/list-apps', url), { headers: { cookie } })).json()).toEqual(['shop'])
    expect((await fetch(new URL('/', url))).status).toBe(401)
    signal('SIGTERM')
    await child.ended
  })

  test('is not written into a folder that is not empty', () => {
    const before = readFileSync(join(project, 'agent.ts'), 'utf8')
    const args = [command, 'create', 'my-shop']
    const { status, stderr } = start(process.execPath, args, app.folder)
    expect([status, stderr]).toEqual([1, 'toolwright: The folder "my-shop" is not empty. Pass a new folder.\n'])
    expect(readFileSync(join(project, 'agent.ts'), 'utf8')).toBe(before)
  })
})
