// The published package: its files, and whether users can read its stack traces and type errors.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { commands, entryPoints, loadedByPath } from '../entry-points.ts'
import { modelProviders } from '../src/apps/cli/models.ts'
import { linksOf, readPage } from './docs/pages.ts'
import { type Installed, installPacked } from './packed/install.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let app: Installed
let files: string[] = []
beforeAll(() => {
  app = installPacked()
  const inside = join(app.folder, 'node_modules/toolwright')
  files = globSync('**/*', { cwd: inside, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => slashes(join(entry.parentPath, entry.name).slice(inside.length + 1)))
    .sort()
})
afterAll(() => app.remove())

const slashes = (file: string): string => file.replaceAll('\\', '/')

const manifest = (): Record<string, Record<string, unknown>> =>
  JSON.parse(readFileSync(join(app.folder, 'node_modules/toolwright/package.json'), 'utf8'))

test('the package contains dist, documentation, examples and the standard pages only', () => {
  const pages = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'THIRD-PARTY-LICENSES.md', 'package.json']
  const docs = globSync('docs/**/*.{md,svg,png}')
    .map(slashes)
    .filter((file) => !file.startsWith('docs/reference/api/'))
  const examples = globSync('examples/**/{*.ts,*.yaml,*.md,Dockerfile}').map(slashes)
  expect(files.filter((file) => !file.startsWith('dist/'))).toEqual([...pages, ...docs, ...examples].sort())
})

test('dist contains one file per entry point, shared files and source maps only', () => {
  const importable = entryPoints().flatMap(({ output }) => [output, output.replace(/\.js$/, '.d.ts')])
  const expected = [...importable, ...[...commands(), ...loadedByPath()].map(({ output }) => output)].sort()
  const entries = files.filter((file) => expected.includes(file))
  expect(entries).toEqual(expected)
  const page = /^dist\/workbench\/(index\.html|icon\.svg|oauth\/callback\.html|assets\/[\w.-]+-[\w-]{8}\.(js|css))$/
  const shared = /^dist\/[\w-]+-[\w-]{8}\.(js|d\.ts|js\.map)$/
  const isKnown = (file: string): boolean =>
    page.test(file) || shared.test(file) || expected.includes(file.replace(/\.map$/, ''))
  expect(files.filter((file) => file.startsWith('dist/') && !isKnown(file))).toEqual([])
  expect(files.filter((file) => file.startsWith('dist/') && /test-kit|\.test\b|test-d|\/src\//.test(file))).toEqual([])
})

test('the package contains every file that package.json names', () => {
  const { exports, bin } = manifest()
  const targets = [...Object.values(exports ?? {}), ...Object.values(bin ?? {})].flatMap((target) =>
    typeof target === 'string'
      ? target
      : Object.entries(target as object).flatMap(([name, file]) => (name === 'toolwright:source' ? [] : file)),
  )
  expect(targets.length).toBeGreaterThan(12)
  expect(targets.filter((target: string) => !files.includes(target.slice(2)))).toEqual([])
})

test('the package has no install script', () => {
  const install = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish']
  expect(Object.keys(manifest().scripts ?? {}).filter((name) => install.includes(name))).toEqual([])
})

test('every relative link of the README names a file of the repository, for the npm page', () => {
  expect(manifest()).toMatchObject({
    repository: { type: 'git', url: 'git+https://github.com/toolwright/toolwright.git' },
    homepage: 'https://github.com/toolwright/toolwright#readme',
    bugs: 'https://github.com/toolwright/toolwright/issues',
  })
  const targets = linksOf(readPage('README.md', read('README.md')))
  expect(targets.length).toBeGreaterThan(10)
  expect(targets.filter((target) => !existsSync(target))).toEqual([])
  expect(targets.filter((target) => /^(\/|\.\.)/.test(target))).toEqual([])
})

test('every relative link of a published page leads to a file of the package', () => {
  const pages = files.filter((file) => file.endsWith('.md'))
  const broken = pages.flatMap((file) =>
    linksOf(readPage(file, read(file)))
      .map((link) => posix.join(posix.dirname(file), link))
      .filter((target) => !files.includes(target))
      .map((target) => `${file}: ${target}`),
  )
  expect(pages.length).toBeGreaterThan(50)
  expect(broken).toEqual([])
})

test('every published JavaScript file has a source map that names its sources, without a copy of them', () => {
  const scripts = files.filter((file) => file.endsWith('.js') && read(file).includes('sourceMappingURL'))
  expect(scripts.length).toBeGreaterThan(5)
  for (const file of scripts) {
    const map = JSON.parse(read(`${file}.map`))
    expect(map.sources.length, file).toBeGreaterThan(0)
    expect(
      map.sources.filter((source: string) => !/(?:^|\/)(?:src|node_modules)\//.test(source)),
      file,
    ).toEqual([])
    expect([map.mappings === '', map.sourcesContent], file).toEqual([false, undefined])
  }
  expect(files.filter((file) => file.endsWith('.d.ts') && read(file).includes('sourceMappingURL'))).toEqual([])
})

/** A model that throws, so that the stack goes through the published files. */
const FAILING = `
import { LlmAgent, Runner } from 'toolwright'
const stacks = []
const model = { name: 'broken', async *generate() { stacks.push(new Error('here').stack) } }
Error.stackTraceLimit = 50
const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model }), logger: { error() {}, warn() {} } })
await runner.complete({ userId: 'ada', message: 'hello' })
console.log(stacks[0])
`

test('a stack trace names the functions and private methods of the package', () => {
  const file = app.write('failing.js', FAILING)
  const stack = start(['--no-warnings', file])
  const frames = stack.split('\n').filter((line) => line.includes('toolwright/dist/'))
  expect(frames.length).toBeGreaterThan(3)
  expect(frames.filter((line) => /at (async )?(\w+\.)?#?[\w$]{1,2} \(/.test(line))).toEqual([])
  expect(stack).toContain('askModel')
  expect(stack).toMatch(/at (async )?(ActiveRun\.)?#runLoop \(/)
})

test('a stack trace names files and lines of the source with --enable-source-maps', () => {
  const stack = start(['--no-warnings', '--enable-source-maps', app.write('failing.js', FAILING)])
  const [, file = '', line = ''] = stack.match(/toolwright\/(src\/[\w/-]+\.ts):(\d+)/) ?? []
  expect(readFileSync(file, 'utf8').split('\n').length).toBeGreaterThan(Number(line))
})

test('TypeScript errors show type names, and the types need neither @types/node nor a peer', () => {
  app.write(
    'wrong.ts',
    `import { createEvent } from 'toolwright'
import { fromAiSdk } from 'toolwright/ai-sdk'
import { beginConsent, setOAuthLibrary } from 'toolwright/auth'
import { quickjs } from 'toolwright/code'
import { McpToolset, serveMcp } from 'toolwright/mcp'
import { sqlite } from 'toolwright/sqlite'
import { createToolContext } from 'toolwright/testing'
interface SessionService { mine: 1 }
interface State { mine: 1 }
interface Event { mine: 1 }
interface CodeExecutor { mine: 1 }
export const service: SessionService = sqlite('app.db').sessionService
export const state: State = createToolContext().state
export const event: Event = createEvent({ author: 'a', invocationId: 'i' })
export const executor: CodeExecutor = quickjs()
export const models: unknown[] = [fromAiSdk, beginConsent, setOAuthLibrary, McpToolset, serveMcp]
`,
  )
  const options = { module: 'nodenext', target: 'es2022', strict: true, noEmit: true, skipLibCheck: false, types: [] }
  app.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['wrong.ts'] }))
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
    cwd: app.folder,
    encoding: 'utf8',
  })
  const named = [...stdout.matchAll(/in type 'import\(".*?"\)\.(\w+)'/g)].map(([, name]) => name)
  expect(named, stdout).toEqual(['SessionService', 'State', 'Event', 'CodeExecutor'])
  expect(stdout.match(/error TS/g), stdout).toHaveLength(4)
})

test.each(modelProviders)('toolwright run names the package to install for $pattern', (provider) => {
  const { pattern, packageName, keyNames } = provider
  const model = pattern.replace('*', '9')
  const program = `import { LlmAgent } from 'toolwright'
export default new LlmAgent({ name: 'agent', model: '${model}' })`
  const args = ['node_modules/toolwright/dist/cli/index.js', 'run', app.write(`${model}.js`, program)]
  const env = { PATH: process.env.PATH, GEMINI_API_KEY: 'any' }
  const ended = spawnSync(process.execPath, args, { cwd: app.folder, encoding: 'utf8', input: 'hello\n', env })
  const needed = keyNames.includes('GEMINI_API_KEY') ? packageName : `${packageName} and a key. Set ${keyNames[0]}`
  expect(ended.stderr).toContain(`${model} needs ${needed}`)
  expect(ended.stderr).toContain(`Run: npm i ${packageName}\n`)
  expect(ended.status).toBe(1)
})

test('toolwright serve names all packages to install in one command', () => {
  const args = ['node_modules/toolwright/dist/cli/index.js', 'serve', 'agent.js']
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: app.folder, encoding: 'utf8' })
  expect(stderr).toBe(
    'toolwright: The server needs hono, @hono/node-server, ws. Run: npm i hono @hono/node-server ws\n',
  )
  expect(status).toBe(1)
})

/** The tests of src/adapters/code run on the source. This test checks that the published worker has the same limits. */
test('the published quickjs() blocks escapes, enforces limits and runs valid code', () => {
  const program = `import { quickjs } from 'toolwright/code'
const run = async (code, timeoutMs = 30_000) => {
  const executor = quickjs({ timeoutMs, memoryBytes: 16_000_000 })
  const signal = new AbortController().signal
  const { outcome, output } = await executor.execute({ code, language: 'js', sessionKey: '', signal })
  console.log(outcome, output.replace('--- stderr ---\\n', '').split('\\n')[0])
}
await run('["process", "require", "Buffer", "fetch", "WebAssembly"].filter((name) => name in globalThis).length')
await run('this.constructor.constructor("return typeof process + typeof require")()')
await run('await import("node:fs")')
await run('for (;;);', 500)
await run('const all = []; for (;;) all.push(new Uint8Array(1e6))')
await run('[1, 2].map((value) => value * 2)')`
  const lines = start(['--no-warnings', app.write('attacks.js', program)])
    .trim()
    .split('\n')
  expect(lines).toEqual([
    'OK 0',
    'OK undefinedundefined',
    expect.stringMatching(/^FAILED .*node:fs/),
    'DEADLINE_EXCEEDED [stopped after 500 ms]',
    'FAILED InternalError: out of memory',
    'OK [ 2, 4 ]',
  ])
})

const read = (file: string): string => readFileSync(join(app.folder, 'node_modules/toolwright', file), 'utf8')

function start(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: app.folder })
  expect([status, stderr]).toEqual([0, ''])
  return stdout
}
