// The hook for Node, in real processes: node --import toolwright/infer/register app.ts
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkToolwright, THROWS_AT, writeExample } from '../bundlers/example-project.ts'

const repository = join(import.meta.dirname, '../../..')
const REGISTER = ['--import', 'toolwright/infer/register']

const AGENT = `import { tool } from 'toolwright'
import type { Unit } from './units.ts'

/** Get the weather. */
function getWeather(city: string, unit: Unit) {
  return city + unit
}
export const declaration = tool(getWeather).declaration()
`
const SCRIPT = `import { tool } from 'toolwright'
/**
 * Adds a number.
 * @param {number} value
 */
const add = (value) => value + 1
export const declaration = tool(add).declaration()
`
const MISTAKE = `import { tool } from 'toolwright'
export const add = tool(function add(value: any) {})
`
const ENUM = `export const one: number = 1
export enum Unit { celsius }
`

/** Files of which some cannot be loaded. */
const LOADED: Record<string, string> = {
  'enum.ts': ENUM,
  'typeless/enum.ts': ENUM,
  'namespace.ts': 'export namespace Units { export const celsius = 1 }\n',
  'property.ts': 'export class Unit {\n  constructor(readonly name: string) {}\n}\n',
  'declared.ts': "declare enum Unit { celsius }\ndeclare namespace Units {}\nexport const text = 'enum Unit {'\n",
  'mistake.ts': MISTAKE,
}

// An outer hook sees the text that Node gets. The hooks are installed again from a second copy of their file.
const PROGRAM = `import { registerHooks } from 'node:module'
import { createToolContext } from 'toolwright/testing'

const { installInferHooks } = await import('${pathToFileURL(join(repository, 'src/apps/infer/node-hooks.ts'))}?again')
installInferHooks()
let transforms = 0
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (url.includes('/example/agent.ts')) transforms = String(loaded.source).split('attachInferred as').length - 1
    return loaded
  },
})
const { failing } = await import('./example/agent.ts?version=1')
let stack = ''
try {
  await failing.run({ city: 'Atlantis' }, createToolContext())
} catch (error) {
  stack = error.stack
}
const tools = [await import('./enums/agent.ts'), await import('./typeless/agent.ts'), await import('./script.js')]
const declarations = tools.map(({ declaration }) => declaration)
const commonJs = (await import('./tool.cts')).default
const load = (file) => import('./' + file).then(() => 'loaded', ({ code, message }) => code + ' ' + message)
const loaded = {}
for (const file of ${JSON.stringify(Object.keys(LOADED))}) loaded[file] = await load(file)
console.log(JSON.stringify({ stack, transforms, declarations, commonJs, loaded }))
`

let folder: string
let output: {
  readonly stack: string
  readonly transforms: number
  readonly declarations: readonly unknown[]
  readonly commonJs: unknown
  readonly loaded: Readonly<Record<string, string>>
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-register-')))
  linkToolwright(folder)
  writeExample(folder, 'example')
  write({
    'enums/units.ts': "export enum Unit { celsius = 'C', fahrenheit = 'F' }\n",
    'enums/agent.ts': AGENT,
    'typeless/package.json': '{}',
    'typeless/units.ts': "export type Unit = 'C'\n",
    'typeless/agent.ts': AGENT,
    'script.js': SCRIPT,
    'tool.cts': 'const tool: number = 1\nmodule.exports = tool\n',
    'program.ts': PROGRAM,
    ...LOADED,
  })
  const { stdout, stderr } = await run([...REGISTER, 'program.ts'])
  if (!stdout.startsWith('{')) throw new Error(stderr)
  output = JSON.parse(stdout)
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a program under toolwright/infer/register', () => {
  test('shows the line and column of the source in the stack of an error', () => {
    expect(output.stack.split('\n')[1]).toContain(`${join(folder, 'example/agent.ts')}:${THROWS_AT}`)
  })
  test('transforms each file once even if the hooks are installed twice', () => {
    expect(output.transforms).toBe(1)
  })
  test('reads an enum that comes by import type, a folder without module type, and types in doc comments', () => {
    const weather = (unit: object): unknown => ({
      name: 'getWeather',
      description: 'Get the weather.',
      parametersJsonSchema: { properties: { city: { type: 'string' }, unit } },
    })
    const add = { name: 'add', parametersJsonSchema: { properties: { value: { type: 'number' } } } }
    expect(output.declarations).toMatchObject([weather({ enum: ['C', 'F'] }), weather({ const: 'C' }), add])
  })
  test('loads CommonJS files as they are', () => expect(output.commonJs).toBe(1))
  test('refuses a mistake in a tool with its position', () => {
    expect(output.loaded['mistake.ts']).toMatch(
      /^INVALID_CONFIG .*mistake\.ts:2:38 The type of parameter "value" is any/s,
    )
  })
})

test('a program in a folder with ?, # and % in its name is transformed, and its stacks show the position', async () => {
  const { folder: example } = writeExample(folder, 'what? #1 100%')
  const program = `import { createToolContext } from 'toolwright/testing'
import { declarations, failing } from './agent.ts'
console.log(declarations)
await failing.run({ city: 'Atlantis' }, createToolContext())`
  writeFileSync(join(example, 'program.ts'), program)
  const { stdout, stderr } = await run([...REGISTER, 'program.ts'], example)
  expect(stdout).toContain('"name":"getWeather","description":"Get the current weather for a city."')
  expect(stderr).toContain(`${join(example, 'agent.ts')}:${THROWS_AT}`)
})

describe('a file that Node cannot run after its types are removed', () => {
  test.each([
    ['enum.ts', '2:8', 'Declare the enum in another file and import it with `import type`'],
    ['typeless/enum.ts', '2:8', 'Declare the enum in another file and import it with `import type`'],
    ['namespace.ts', '1:8', 'Export the members of the namespace from a file of their own.'],
    ['property.ts', '2:24', 'Declare the property in the class and assign it in the constructor.'],
  ])('is refused with its position and what to write instead: %s', (file, position, advice) => {
    expect(output.loaded[file]).toContain(`INVALID_CONFIG ${join(folder, file)}:${position} `)
    expect(output.loaded[file]).toContain('Node strips types and does not compile TypeScript.')
    expect(output.loaded[file]).toContain(advice)
  })
  test('is not confused with a declaration or a text that looks like one', () => {
    expect(output.loaded['declared.ts']).toBe('loaded')
  })
})

describe('without a compiler', () => {
  let app: string
  beforeAll(() => {
    // a copy of the package that is installed without its optional peers
    app = join(folder, 'without-compiler')
    write({ 'without-compiler/package.json': '{ "type": "module" }' })
    const copy = join(app, 'copy-of-toolwright')
    for (const part of ['src', 'package.json']) cpSync(join(repository, part), join(copy, part), { recursive: true })
    mkdirSync(join(app, 'node_modules'))
    symlinkSync(copy, join(app, 'node_modules/toolwright'), 'junction')
    mkdirSync(join(copy, 'node_modules'))
    symlinkSync(join(repository, 'node_modules/magic-string'), join(copy, 'node_modules/magic-string'), 'junction')
  })

  test('toolwright/infer/register fails at start and says what to install', async () => {
    const program = ['--input-type=module', '--eval', "console.log('started')"]
    const { stdout, stderr } = await run([...REGISTER, ...program], app)
    expect(stderr).toMatch(/MISSING_PEER/)
    expect(stderr).toContain('npm install --save-dev typescript-5@npm:typescript@5')
    expect(stdout).toBe('')
  })
  test('the hooks of the command leave files as they are', async () => {
    write({
      'without-compiler/hooks.ts':
        "import { installInferHooks } from './copy-of-toolwright/src/apps/infer/node-hooks.ts'\ninstallInferHooks({ requireCompiler: false })\n",
      'without-compiler/plain.ts': "export const tools: string = 'no tool'\n",
      'without-compiler/app.ts':
        "import { tool } from 'toolwright'\nexport default tool(function add(value: number) {})\n",
    })
    const program =
      "console.log((await import('./plain.ts')).tools, await import('./app.ts').catch(({ code }) => code))"
    const { stdout } = await run(['--import', './hooks.ts', '--input-type=module', '--eval', program], app)
    expect(stdout).toBe('no tool NEEDS_INFER\n')
  })
})

function write(files: Record<string, string>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
}

/** Runs Node and returns what it prints, also if it fails. */
async function run(args: readonly string[], cwd = folder): Promise<{ stdout: string; stderr: string }> {
  const program = promisify(execFile)(process.execPath, ['--conditions=toolwright:source', ...args], { cwd })
  return await program.catch((error: { stdout: string; stderr: string }) => error)
}
