import { type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { scriptedModel } from '../../../adapters/testing/scripted-model.ts'
import type { JsonObject } from '../../../core/base/json.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { SequentialAgent } from '../../../engine/agent/agents/workflow.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { loadAgentFile, readAgentExports } from './agent-file.ts'

if (!existsSync('/dev/full')) console.warn('NOT TESTED: output to a full disk, which needs /dev/full.')

const agent = new LlmAgent({ name: 'root', model: scriptedModel([]) })
const read = (exports: JsonObject) => readAgentExports('my.ts', exports)

describe('an agent file', () => {
  test('can export an agent by default', () => expect(read({ default: agent }).root).toBe(agent))
  test('can export rootAgent', () => expect(read({ rootAgent: agent }).root).toBe(agent))
  test('can export a runner', () => {
    const runner = new Runner({ appName: 'x', agent })
    expect(read({ default: runner }).root).toBe(runner)
  })
  test('can export a live model and a function that authenticates requests', () => {
    const live = { model: { name: 'live', connect: async () => {} } }
    const authenticate = () => ({ userId: 'ada' })
    expect(read({ default: agent, live, authenticate })).toMatchObject({ live, authenticate })
    expect(read({ default: agent })).toMatchObject({ live: undefined, authenticate: undefined })
  })
  test('can export a custom agent with name and run', () => {
    const custom = { name: 'custom', run: async function* () {} }
    expect(read({ default: custom }).root).toBe(custom)
  })
})

describe('an agent file is rejected with advice', () => {
  class Foreign {
    static {
      Object.defineProperty(Foreign, 'name', { value: 'LlmAgent' })
    }
    readonly name = 'other'
    run = async function* () {}
  }
  const method = () => {}
  const foreignRunner = { agent: new Foreign(), run: method, complete: method, resume: method, close: method }
  test.each([
    ['without an export', {}, /exports no agent\. Write `export default agent`/],
    ['when it exports a number', { default: 7 }, /must export an Agent or a Runner, got a number/],
    ['when it exports a list', { default: [agent] }, /got a list\./],
    [
      'when its agent is from another copy of the package',
      { default: new Foreign() },
      /agent "other" built with another copy.*npx toolwright/,
    ],
    [
      'when its runner is from another copy of the package',
      { default: foreignRunner },
      /a Runner built with another copy/,
    ],
    [
      'when a sub-agent is from another copy of the package',
      { default: new SequentialAgent({ name: 'all', subAgents: [agent, new Foreign()] }) },
      /agent "other" built with another copy/,
    ],
    [
      'when live has no live model',
      { default: agent, live: { model: 'gemini' } },
      /"live" of "my\.ts" needs a live model/,
    ],
    ['when authenticate is no function', { default: agent, authenticate: true }, /must be a function, got a boolean/],
    [
      'when the tour is not a list of strings',
      { default: agent, tour: [1] },
      /tour of "my\.ts" must be a list of strings/,
    ],
  ])('%s', (_, exports, message) => {
    expect(() => read(exports)).toThrow(message)
  })
  test('when it does not exist', async () =>
    await expect(loadAgentFile('gone.ts')).rejects.toThrow(
      'Agent file "gone.ts" does not exist. Check the path; a relative path starts at the current directory.',
    ))
  test('when it is a folder', async () =>
    await expect(loadAgentFile('src')).rejects.toThrow('"src" is not a file. Pass the agent file'))
})

// In a real process: the errors come from Node.
describe('toolwright run fails with one clear message for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'load-'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each([
    ['a syntax error', 'export default {\n  name: = 1\n}', [/Cannot load /, /my\.ts:2\n/, / {2}name: = 1\n {8}\^/]],
    ['an enum', 'enum Unit { C }\nexport default Unit', [/enum is not supported in strip-only/, /an object instead/]],
    ['a type imported as a value', "import { Agent } from 'toolwright'", [/no.*export named 'Agent'/, /`import type`/]],
    ['a missing package', "import 'no-such-package'", [/Cannot find package/, /npm install no-such-package/]],
    ['a missing file', "import './tools'", [/Cannot find module/, /extension/]],
    ['an error thrown by the file', "\nthrow new Error('no key\\x1b[2J')", [/no key\\x1b\[2J \(line 2\)/]],
    [
      'an invalid agent name',
      "import { LlmAgent } from 'toolwright'\nexport default new LlmAgent({ name: 'a b' })",
      [/"a b" is not a valid agent name.*\(line 2\)/],
    ],
    ['an agent with a getter that throws', 'export default { get name() { throw 1 } }', [/Cannot read the exports of/]],
    [
      'an agent with an invalid sub-agent',
      'export default { name: "a", run() {}, subAgents: [null] }',
      [/list of agents/],
    ],
    [
      'a file that awaits a promise that never settles',
      'await new Promise(() => {})',
      [/did not finish: it awaits a promise that never settles/],
    ],
    [
      'an agent that awaits a promise that never settles',
      'export default { name: "a", async *run() { await new Promise(() => {}) } }',
      [/did not finish: it awaits a promise that never settles/],
    ],
  ])('%s', (_, text, messages) => {
    writeFileSync(join(folder, 'my.ts'), text)
    const { status, stderr } = runCli([join(folder, 'my.ts'), 'hi'])
    for (const message of messages) expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^ {4}at /m)
    expect(status).toBe(1)
  })
})

test('an ES module in a CommonJS package is rejected with two possible fixes in the message', () => {
  const folder = mkdtempSync(join(tmpdir(), 'load-'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}')
  const text = `import { LlmAgent } from 'toolwright'
import { offlineModel } from 'toolwright/testing'
export default new LlmAgent({ name: 'a', model: offlineModel() })`
  for (const name of ['my.ts', 'my.mts']) writeFileSync(join(folder, name), text)
  const { status, stderr } = runCli([join(folder, 'my.ts'), 'hi'])
  expect(stderr).toMatch(/Cannot load .*\n[\s\S]*"type": "commonjs".*Rename the file to end in \.mts/)
  expect(status).toBe(1)
  expect(runCli([join(folder, 'my.mts'), 'hi']).status).toBe(0)
  rmSync(folder, { recursive: true })
})

test('a TypeScript agent file inside node_modules is rejected with advice', () => {
  const folder = mkdtempSync(join(tmpdir(), 'load-'))
  const file = join(folder, 'node_modules', 'kit', 'my.ts')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, 'export default {}')
  const { status, stderr } = runCli([file, 'hi'])
  expect(stderr).toMatch(/Cannot load .*node_modules[\s\S]*Copy the file into your own folder/)
  expect(status).toBe(1)
  rmSync(folder, { recursive: true })
})

describe.skipIf(!existsSync('/dev/full'))('toolwright run with a full output device', () => {
  const folder = mkdtempSync(join(tmpdir(), 'load-'))
  const file = join(folder, 'my.mjs')
  writeFileSync(file, 'export default { name: "a", async *run() { throw new Error("No key.") } }')
  const full = openSync('/dev/full', 'w')
  afterAll(() => {
    closeSync(full)
    rmSync(folder, { recursive: true })
  })

  test('exits with one line that gives the reason', () => {
    const { status, stderr } = runCli([file, 'hi'], ['ignore', full, 'pipe'])
    expect(stderr).toMatch(/^toolwright: Cannot write to standard output: ENOSPC.*\n$/)
    expect(status).toBe(1)
  })
})

test('toolwright run continues when its stderr pipe is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'load-'))
  const file = join(folder, 'my.mjs')
  const text = `export default { name: 'a', async *run() {
    for (let count = 0; count < 3; count++) await new Promise((written) => process.stderr.write('x', written))
    yield { content: { role: 'model', parts: [{ text: 'All of it.' }] } }
  } }`
  writeFileSync(file, text)
  const args = ['--conditions=toolwright:source', 'src/apps/cli/index.ts', 'run', '--memory', file, 'hi']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stderr.destroy()
  const ended = once(child, 'close')
  let stdout = ''
  for await (const chunk of child.stdout) stdout += chunk
  expect(await ended).toEqual([0, null])
  expect(stdout).toContain('All of it.')
  rmSync(folder, { recursive: true })
})

describe('toolwright run with an agent file that imports another copy of the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'load-'))
  const copy = join(folder, 'copy')
  cpSync('src', join(copy, 'src'), { recursive: true })
  cpSync('package.json', join(copy, 'package.json'))
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(copy, join(folder, 'node_modules/toolwright'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  afterAll(() => rmSync(folder, { recursive: true }))

  const made =
    "import { LlmAgent, Runner } from 'toolwright'\nconst agent = new LlmAgent({ name: 'far', model: { name: 'm', async *generate() {} } })"
  test.each([
    ['an agent', `${made}\nexport default agent`, 'agent "far" built with another copy of the package'],
    [
      'a runner',
      `${made}\nexport default new Runner({ appName: 'x', agent })`,
      'a Runner built with another copy of the package',
    ],
  ])('rejects %s and names the command of that copy', (_, text, message) => {
    writeFileSync(join(folder, 'my.ts'), text)
    const { status, stderr } = runCli([join(folder, 'my.ts'), 'hi'])
    expect(stderr).toContain(message)
    expect(status).toBe(1)
  })
})

function runCli(
  args: readonly string[],
  stdio: StdioOptions = ['ignore', 'pipe', 'pipe'],
): { status: number | null; stdout: string; stderr: string } {
  const node = ['--conditions=toolwright:source', 'src/apps/cli/index.ts', 'run', '--memory']
  return spawnSync(process.execPath, [...node, ...args], { encoding: 'utf8', stdio })
}
