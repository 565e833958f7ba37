// `toolwright infer` writes a module that makes `tool(fn)` work, and `--check` compares it.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { runCommandLine } from '../../src/apps/cli/terminal.test-kit.ts'
import { createInferrer } from '../../src/apps/infer/create-inferrer.ts'
import { temporaryFolder } from './temporary-folder.ts'

const project = temporaryFolder()
afterAll(() => project[Symbol.dispose]())

const tools = `import type { ToolContext } from 'toolwright'
/**
 * Get the weather.
 * @param city The city
 */
export async function getWeather(city: string, days = 3, context: ToolContext) { return { city, days, call: context.functionCallId } }
export class Orders {
  /** Refund an order. */
  static refund({ id, amount = 5 }: { id: string; amount?: number }) { return { id, amount } }
  /** Cancel an order. */
  static readonly cancel = (id: string) => id
  /** Not a tool.
   * @internal */
  static connect(open: () => void) { open() }
  private static secret(open: () => void) { open() }
  notStatic(open: () => void) { open() }
}
/** Say hello. */
export default (name: string) => 'hello ' + name
/** Attach. */
export const attachInferred = (file: string) => file
export const limit = 5
export type Limit = number
function hidden(open: () => void) { open() }
export { hidden as _ }
`.replace('export { hidden as _ }\n', 'hidden(() => {})\n')

beforeEach(() => {
  for (const name of ['tools.infer.ts', 'more.infer.ts', 'more.ts']) rmSync(project.file(name), { force: true })
  writeFileSync(project.file('package.json'), '{ "type": "module" }')
  writeFileSync(project.file('tools.ts'), tools)
})

const infer = (...args: string[]): ReturnType<typeof runCommandLine> =>
  runCommandLine(['infer', ...args], { folder: project.path })

/** Runs a program in the project, in a process of its own. */
function run(program: string): unknown {
  writeFileSync(project.file('program.ts'), program)
  const output = execFileSync(process.execPath, ['--conditions=toolwright:source', 'program.ts'], {
    cwd: project.path,
    encoding: 'utf8',
  })
  return JSON.parse(output)
}

test('the written module makes tool() work for every exported function and static method', async () => {
  expect(await infer('tools.ts')).toEqual({ code: 0, out: 'Wrote tools.infer.ts: 5 functions.\n', errors: '' })
  const names = run(`import './tools.infer.ts'
import { tool } from 'toolwright'
import hello, { attachInferred, getWeather, Orders } from './tools.ts'
const all = [tool(getWeather), tool(Orders.refund), tool(Orders.cancel), tool(hello, { name: 'hello' }), tool(attachInferred)]
console.log(JSON.stringify(all.map((one) => one.declaration())))`)
  expect(names).toMatchObject([
    { name: 'getWeather', description: 'Get the weather.', parametersJsonSchema: { required: ['city'] } },
    { name: 'refund', parametersJsonSchema: { properties: { amount: { default: 5 } } } },
    { name: 'cancel' },
    { name: 'hello', description: 'Say hello.' },
    { name: 'attachInferred' },
  ])
})

test('an exported function that makes a tool is not written as a tool', async () => {
  writeFileSync(
    project.file('more.ts'),
    `import { tool } from 'toolwright'
/** Read. */
export const read = (id: string) => id
/** Make a search. */
export const makeSearch = (index: string) => tool({ name: 'search', description: 'S', run: () => index })`,
  )
  expect(await infer('more.ts')).toEqual({ code: 0, out: 'Wrote more.infer.ts: 1 function.\n', errors: '' })
})

test('the module and the transform give the same declaration, byte for byte', async () => {
  await infer('tools.ts')
  const program = `import { tool } from 'toolwright'\nimport { getWeather, Orders } from './tools.ts'\nconsole.log(JSON.stringify([tool(getWeather).declaration(), tool(Orders.refund).declaration()]))`
  const written = run(`import './tools.infer.ts'\n${program}`)
  const transformed = createInferrer({ cache: false }).transform(project.file('program.ts'), program)?.code ?? ''
  expect(JSON.stringify(run(transformed))).toBe(JSON.stringify(written))
})

test('the module is a text to review, and is written once', async () => {
  await infer('tools.ts')
  const text = readFileSync(project.file('tools.infer.ts'), 'utf8')
  expect(text).toContain(`import { attachInferred } from 'toolwright/infer'
import { getWeather, Orders, default as exported_default, attachInferred as exported_attachInferred } from './tools.ts'

attachInferred(getWeather, {
  name: "getWeather",
  description: "Get the weather.",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "The city" }, days: { type: "number", default: 3 } },
    required: ["city"],
    additionalProperties: false,
  },
  call: [{ argument: "city" }, { argument: "days" }, { context: true }],`)
  expect(await infer('tools.ts')).toMatchObject({ code: 0, out: 'tools.infer.ts is up to date.\n' })
})

test('--check passes for an unchanged module, also after a formatter', async () => {
  await infer('tools.ts')
  expect(await infer('tools.ts', '--check')).toMatchObject({ code: 0, out: 'tools.infer.ts is up to date.\n' })
  const text = readFileSync(project.file('tools.infer.ts'), 'utf8')
  writeFileSync(project.file('tools.infer.ts'), text.replaceAll(/"(\w+)"/g, "'$1'").replaceAll(', ', ',\n'))
  expect(await infer('tools.ts', '--check')).toMatchObject({ code: 0 })
})

test.each<[what: string, change: () => void]>([
  ['a changed type', () => writeFileSync(project.file('tools.ts'), tools.replace('days = 3', 'days = 4'))],
  ['a changed doc comment', () => writeFileSync(project.file('tools.ts'), tools.replace('The city', 'A city'))],
  [
    'a new function',
    () => writeFileSync(project.file('tools.ts'), `${tools}/** New. */\nexport const added = () => 1\n`),
  ],
  [
    'a removed function',
    () => writeFileSync(project.file('tools.ts'), tools.replace('static refund', 'private static refund')),
  ],
  [
    'an edited module',
    () =>
      writeFileSync(
        project.file('tools.infer.ts'),
        readFileSync(project.file('tools.infer.ts'), 'utf8').replace('required: ["city"]', 'required: []'),
      ),
  ],
])('--check fails after %s and changes nothing', async (_what, change) => {
  await infer('tools.ts')
  change()
  const before = readFileSync(project.file('tools.infer.ts'), 'utf8')
  expect(await infer('tools.ts', '--check')).toEqual({
    code: 1,
    out: '',
    errors: 'toolwright: tools.infer.ts is out of date. Run: npx toolwright infer tools.ts\n',
  })
  expect(readFileSync(project.file('tools.infer.ts'), 'utf8')).toBe(before)
})

test('--check fails for a module that does not exist', async () => {
  expect(await infer('tools.ts', '--check')).toMatchObject({
    code: 1,
    errors: expect.stringContaining('does not exist'),
  })
  expect(existsSync(project.file('tools.infer.ts'))).toBe(false)
})

test('--check passes for a default of -0, which JSON writes as 0', async () => {
  writeFileSync(
    project.file('more.ts'),
    '/** Move. */\nexport const move = (x = -0, /** @default -0 */ y?: number) => [x, y]\n',
  )
  await infer('more.ts')
  expect(await infer('more.ts', '--check')).toMatchObject({ code: 0 })
})

test.each([[[]], [['--check']]])(
  'a file that the command did not write is not replaced: infer tools.ts more.ts %j',
  async (options) => {
    writeFileSync(project.file('more.ts'), '/** A. */\nexport const a = () => 1\n')
    writeFileSync(project.file('more.infer.ts'), 'export const mine = 1\n')
    expect(await infer('tools.ts', 'more.ts', ...options)).toEqual({
      code: 1,
      out: '',
      errors:
        'toolwright: more.infer.ts exists and was not written by this command, so it is not replaced. Rename or delete it, and run the command again.\n',
    })
    expect(readFileSync(project.file('more.infer.ts'), 'utf8')).toBe('export const mine = 1\n')
    expect(existsSync(project.file('tools.infer.ts'))).toBe(false)
  },
)

test('a written module is replaced, also below a line that another tool put above it', async () => {
  await infer('tools.ts')
  const text = readFileSync(project.file('tools.infer.ts'), 'utf8')
  writeFileSync(project.file('tools.infer.ts'), `/* eslint-disable */\r\n${text}`)
  writeFileSync(project.file('tools.ts'), tools.replace('days = 3', 'days = 4'))
  expect(await infer('tools.ts')).toMatchObject({ code: 0, out: 'Wrote tools.infer.ts: 5 functions.\n' })
})

test('--check names a written module whose source has no functions any more, but no other file', async () => {
  await infer('tools.ts')
  writeFileSync(project.file('more.ts'), tools)
  await infer('more.ts')
  writeFileSync(project.file('more.ts'), 'export const limit = 5\n')
  expect(await infer('tools.ts', 'more.ts', '--check')).toMatchObject({
    code: 1,
    errors: 'toolwright: more.infer.ts is out of date. Run: rm more.infer.ts\n',
  })
  writeFileSync(project.file('more.infer.ts'), 'export const mine = 1\n')
  expect(await infer('tools.ts', 'more.ts', '--check')).toMatchObject({ code: 0 })
})

test('mistakes of all files are listed together, and nothing is written', async () => {
  writeFileSync(project.file('tools.ts'), '/** A. */\nexport const a = (open: () => void) => open()\n')
  writeFileSync(project.file('more.ts'), '/** B. */\nexport function b(id: symbol) { return id }\n')
  const { code, errors } = await infer('tools.ts', 'more.ts')
  expect(code).toBe(1)
  expect(errors).toMatch(/^toolwright: 2 mistakes.*\nmore\.ts:2:19 .*symbol.*\ntools\.ts:2:19 .*function/)
  expect(existsSync(project.file('tools.infer.ts'))).toBe(false)
})

test('files without functions and written modules are skipped among others', async () => {
  writeFileSync(project.file('more.ts'), 'export const limit = 5\n')
  await infer('tools.ts')
  expect(await infer('tools.ts', 'more.ts', 'tools.infer.ts')).toMatchObject({
    code: 0,
    out: 'tools.infer.ts is up to date.\n',
  })
  expect(await infer('tools.ts', 'more.ts', '--check')).toMatchObject({ code: 0 })
  expect(existsSync(project.file('more.infer.ts'))).toBe(false)
})

test.each([
  [['more.ts'], 1, 'No file exports a function'],
  [['missing.ts'], 1, 'Cannot read "missing.ts". Check the path.'],
  [[], 2, 'Name the files to read'],
])('%j fails with code %i and advice', async (args, code, message) => {
  writeFileSync(project.file('more.ts'), 'export const limit = 5\n')
  expect(await infer(...args)).toMatchObject({ code, errors: expect.stringContaining(message) })
})

test.each([
  ['tools.ts', `import './other.ts'\n`, './more.ts'],
  ['tools.js', `import { x } from './other.js'\n`, './more.js'],
  ['tools', `import { x } from './other'\n`, './more'],
])('the module imports its source as the source imports %s', async (_name, first, specifier) => {
  writeFileSync(
    project.file('more.ts'),
    `${first.replace("import '", "export * from '")}/** A. */\nexport const a = () => 1\n`,
  )
  await infer('more.ts')
  expect(readFileSync(project.file('more.infer.ts'), 'utf8')).toContain(`import { a } from '${specifier}'`)
})
