import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../terminal.test-kit.ts'

// test/bin.test.ts runs the tests of a created project and starts it.

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-create-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('toolwright create writes a project into an empty folder and names the next commands', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'My Shop!'))
  const { code, out } = await runCommandLine(['create', 'My Shop!'], { folder })
  expect(code).toBe(0)
  expect(out).toContain("Next:\n  cd 'My Shop!'\n  npm install\n")
  const files = ['.gitignore', 'README.md', 'agent.test.ts', 'agent.ts', 'package.json', 'tsconfig.json']
  expect(readdirSync(join(folder, 'My Shop!')).sort()).toEqual(files)
  const { name, dependencies } = JSON.parse(readFileSync(join(folder, 'My Shop!', 'package.json'), 'utf8'))
  const own = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(name).toBe('my-shop')
  expect(dependencies).toMatchObject({ toolwright: `^${own.version}`, hono: own.peerDependencies.hono })
})

test.each([
  ['a folder with a file', 'used', 'The folder "used" is not empty. Pass a new folder.'],
  ['a file', 'used/agent.ts', 'The folder "used/agent.ts" cannot be created: EEXIST'],
])('toolwright create refuses %s and changes nothing', async (_, path, problem) => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'used'))
  writeFileSync(join(folder, 'used/agent.ts'), 'mine')
  const { code, out, errors } = await runCommandLine(['create', path], { folder })
  expect(errors).toContain(`toolwright: ${problem}`)
  expect([code, out]).toEqual([1, ''])
  expect(readdirSync(join(folder, 'used'))).toEqual(['agent.ts'])
  expect(readFileSync(join(folder, 'used/agent.ts'), 'utf8')).toBe('mine')
})

test.each([[], ['a', 'b']])('toolwright create %s asks for one folder', async (...paths) => {
  const { code, errors } = await runCommandLine(['create', ...paths])
  expect([code, errors]).toEqual([2, 'toolwright: Pass one folder. Usage: toolwright create <folder>\n'])
})
