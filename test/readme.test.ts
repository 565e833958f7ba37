// Follows the first screen of the README: an empty folder, the packed package, and the files as the README shows them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { withoutProgress } from '../src/apps/cli/screen/without-progress.test-kit.ts'
import { type Block, readPage } from './docs/pages.ts'
import { typeScript5 } from './infer/temporary-folder.ts'
import { type Installed, installPacked } from './packed/install.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const { blocks, text } = readPage('README.md', readFileSync('README.md', 'utf8'))
const command = 'node_modules/toolwright/dist/cli/index.js'

let app: Installed
beforeAll(() => {
  app = installPacked()
  app.write('package.json', JSON.stringify({ name: 'app', version: '1.0.0', main: 'index.js', type: 'commonjs' })) // npm init -y
  const link = (name: string, source: string): void => {
    const target = join(app.folder, 'node_modules', name)
    mkdirSync(join(target, '..'), { recursive: true })
    symlinkSync(source, target, 'junction')
  }
  for (const name of ['zod', '@ai-sdk/openai', '@types/node']) link(name, resolve('node_modules', name))
  link('typescript-5', typeScript5)
})
afterAll(() => app.remove())

test('the first command of the README creates a project', () => {
  const [, firstCommand] = /npx toolwright (create \S+)/.exec(text) ?? []
  expect(text.indexOf('npx toolwright create')).toBeLessThan(text.indexOf('npm init -y'))
  expect(start([command, ...(firstCommand?.split(' ') ?? [])])[0]).toBe(0)
  expect(readFileSync(join(app.folder, 'my-agent/package.json'), 'utf8')).toContain('"start": "toolwright web')
})

test('the agent file of the README prints the shown output in a folder made by npm init -y', () => {
  const [name, agent] = writeFile('agent.mts')
  expect(start([name])).toEqual([0, '', '']) // it only defines the agent
  expect(text).toContain('npx toolwright run agent.mts "How warm is it in Oslo?"')
  expect(start([command, 'run', name, 'How warm is it in Oslo?'])).toEqual([0, '', outputAfter(agent, 2)])
})

test('the program of the README that uses a runner prints the shown output', () => {
  writeFile('agent.mts')
  const [name, main] = writeFile('main.mts')
  expect(text).toContain('`node main.mts`')
  expect(start([name])).toEqual([0, '', outputAfter(main, 1)])
})

test('toolwright run starts the README program whose tool is a plain function, and Node refuses it without the hook', () => {
  writeFile('plain.mts')
  const [status, errors, output] = start([command, 'run', 'plain.mts', 'How warm is it in Oslo?'])
  expect([status, errors]).toEqual([0, ''])
  expect(output).toContain('It is 22 °C in Oslo.')
  expect(start(['plain.mts'])[1]).toContain('NEEDS_INFER')
  expect(start(['--import', 'toolwright/infer/register', 'plain.mts'])).toEqual([0, '', ''])
})

test('the README program for a real provider says in one line that the key is missing, and fails', () => {
  const [name] = writeFile('provider.mts')
  const [status, errors, output] = start([command, 'run', name, 'Hello!'])
  expect([status, errors]).toEqual([1, ''])
  expect(output).toMatch(/^! MODEL_ERROR: openai\.responses: OpenAI API key is missing\..*OPENAI_API_KEY.*\n$/)
})

test('a program with a runner logs one line when the key is missing', () => {
  writeFile('provider.mts')
  const program = `
    import { Runner } from 'toolwright'
    import agent from './provider.mts'
    const { text } = await new Runner({ appName: 'demo', agent }).complete({ userId: 'ada', message: 'Hello!' })
    console.log(text)`
  app.write('no-key.mts', program)
  const [status, errors, output] = start(['no-key.mts'])
  expect([status, output]).toEqual([0, '\n'])
  expect(errors).toMatch(/^The model of agent "helper" failed: openai\.responses: OpenAI API key is missing\..*\n$/)
})

test('the README program for a real provider has no type error', () => {
  const [status, , output] = typeCheck(writeFile('provider.mts')[0])
  expect(output).toBe('')
  expect(status).toBe(0)
})

test('the README program has a type error when the provider model is not wrapped in fromAiSdk', () => {
  const { code } = blockOf('provider.mts')
  app.write('unwrapped.mts', code.replace("fromAiSdk(openai('gpt-5-mini'))", "openai('gpt-5-mini')"))
  expect(typeCheck('unwrapped.mts')[2]).toContain('is not assignable to type')
})

/** The block that the README saves as this file. */
function blockOf(name: string): Block {
  const block = blocks.find(({ words }) => words.includes(`file=${name}`))
  if (!block) throw new Error(`README.md has no file ${name}`)
  return block
}

function writeFile(name: string): [string, Block] {
  const block = blockOf(name)
  app.write(name, block.code)
  return [name, block]
}

/** The block `distance` blocks after another one. */
function outputAfter(block: Block, distance: number): string | undefined {
  return blocks[blocks.indexOf(block) + distance]?.code
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
