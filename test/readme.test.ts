// Follows the first screen of the README: an empty folder, the packed package, and the files as the README shows them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { withoutProgress } from '../src/cli/screen/without-progress.test-kit.ts'
import { type Block, readPage } from './docs/pages.ts'
import { type Installed, installPacked } from './packed/install.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const { blocks, text } = readPage('README.md', readFileSync('README.md', 'utf8'))
const firstRun = blocks.findIndex(({ words }) => words.includes('run'))

let app: Installed
beforeAll(() => {
  app = installPacked()
  app.write('package.json', JSON.stringify({ name: 'app', version: '1.0.0', main: 'index.js', type: 'commonjs' })) // npm init -y
  for (const name of ['zod', '@ai-sdk/openai', '@types/node', 'ts-json-schema-generator']) {
    const target = join(app.folder, 'node_modules', name)
    mkdirSync(join(target, '..'), { recursive: true })
    symlinkSync(resolve('node_modules', name), target, 'junction')
  }
})
afterAll(() => app.remove())

test('the first program of the README prints the shown output in a folder made by npm init -y', () => {
  expect(text).toContain('`node agent.mts`')
  app.write('agent.mts', blockAt(firstRun).code)
  expect(start(['agent.mts'])).toEqual([0, '', blockAt(firstRun + 1).code])
})

test('toolwright run starts the program of the README when it exports its agent', () => {
  const program = blockAt(firstRun).code.replace(/^const runner[\s\S]*/m, 'export default agent\n')
  expect(program).toContain('export default agent')
  const command = 'node_modules/toolwright/dist/cli/index.js'
  app.write('exported.mts', program)
  const [status, errors, output] = start([command, 'run', 'exported.mts', 'How warm is it in Oslo?'])
  expect([status, errors]).toEqual([0, ''])
  expect(output).toContain(blockAt(firstRun + 1).code)
})

test('toolwright run starts the README program whose tool is a plain function, and Node refuses it without the hook', () => {
  const block = blocks.find(({ code }) => code.includes('async function getWeather'))
  app.write('plain.mts', block?.code ?? '')
  expect(text).toContain('npx toolwright run plain.mts "How warm is it in Oslo?"')
  const command = 'node_modules/toolwright/dist/cli/index.js'
  const [status, errors, output] = start([command, 'run', 'plain.mts', 'How warm is it in Oslo?'])
  expect([status, errors]).toEqual([0, ''])
  expect(output).toContain(blockAt(firstRun + 1).code)
  expect(start(['plain.mts'])[1]).toContain('NEEDS_INFER')
  expect(start(['--import', 'toolwright/infer/register', 'plain.mts'])).toEqual([0, '', ''])
})

test('the README program for a real provider has no type error', () => {
  const block = blocks.find(({ code }) => code.includes("from '@ai-sdk/openai'"))
  app.write('provider.mts', block?.code ?? '')
  const [status, , output] = typeCheck('provider.mts')
  expect(output).toBe('')
  expect(status).toBe(0)
})

test('the README program has a type error when the provider model is not wrapped in fromAiSdk', () => {
  const block = blocks.find(({ code }) => code.includes("from '@ai-sdk/openai'"))
  app.write('unwrapped.mts', block?.code.replace("fromAiSdk(openai('gpt-5-mini'))", "openai('gpt-5-mini')") ?? '')
  expect(typeCheck('unwrapped.mts')[2]).toContain('is not assignable to type')
})

function blockAt(at: number): Block {
  const block = blocks[at]
  if (!block) throw new Error(`README.md has no block ${at}`)
  return block
}

function typeCheck(file: string): [number | null, string, string] {
  const compilerOptions = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, skipLibCheck: true }
  app.write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: { ...compilerOptions, types: ['node'] }, files: [file] }),
  )
  return start([resolve('node_modules/typescript/bin/tsc'), '-p', '.', '--pretty', 'false'])
}

function start(args: readonly string[]): [number | null, string, string] {
  const env = { PATH: process.env.PATH, NO_COLOR: '1' }
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { cwd: app.folder, encoding: 'utf8', env })
  return [status, withoutProgress(stderr), stdout]
}
