// Each bundler builds, runs and watches one example with the real plugin. main.ts does the work; the tests read its report.
import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkToolwright, THROWS_AT, writeExample } from './example-project.ts'
import type { Built, Report } from './main.ts'

const bundlers = ['vite', 'vitest', 'rollup', 'rolldown', 'tsdown', 'esbuild', 'webpack', 'rspack']
const watching = bundlers.filter((name) => name !== 'tsdown') // it watches with rolldown

let folder: string
let report: Report
let registered: string

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-bundlers-')))
  linkToolwright(folder)
  const { folder: example } = writeExample(folder, 'registered')
  const print = "const { declarations } = await import('./agent.ts'); process.stdout.write(declarations)"
  const [reported, printed] = await Promise.all([
    run(['--enable-source-maps', join(import.meta.dirname, 'main.ts'), folder], process.cwd()),
    run(['--import', 'toolwright/infer/register', '--input-type=module', '--eval', print], example),
  ])
  report = JSON.parse(reported)
  registered = printed
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(bundlers)('the plugin for %s', (name) => {
  test('builds an agent whose declarations equal those under Node, byte for byte', () => {
    expect(built(name).declarations).toBe(registered)
    expect(registered).toContain('"description":"Name of the city, like \\"Oslo\\""')
  })
  test('keeps the line and column of an error that a tool throws', () => {
    expect(built(name).stack.split('\n')[1]).toMatch(new RegExp(`[\\\\/]agent\\.ts:${THROWS_AT}\\)?$`))
  })
  test('fails the build for a parameter of type any with position and advice', () => {
    const error = name === 'vitest' ? report.watched.vitest?.[0] : report.mistakes[name]
    expect(error).toMatch(/types\.ts:4:3 The type of property "city" is any/)
    expect(error).toContain('Write its type, or allow any value with the tag @any')
  })
})

describe.each(watching)('the watch mode of %s', (name) => {
  test('builds again when a mistake in a file that only has types is corrected', () => {
    const [atStart, corrected] = report.watched[name] ?? []
    expect(atStart).toContain('The type of property "city" is any')
    expect(corrected).toBe(registered)
  })
  test('builds again when a file that only has types changes', () => {
    const changed = report.watched[name]?.[2]
    expect(changed).toContain('"description":"Get the current weather for a city."')
    expect(changed).toContain('"town":{"type":"string","description":"Name of the city')
  })
  test('builds again when the doc comment of an imported function changes', () => {
    const changed = report.watched[name]?.[3]
    expect(changed).toContain('"description":"Look up the weather for a city."')
  })
  test('reports a later mistake and builds again when it is corrected', () => {
    const [mistake, corrected] = report.watched[name]?.slice(4) ?? []
    expect(mistake).toContain('The type of property "city" is any')
    expect(corrected).toBe(registered)
  })
})

test('an error in a file whose types another plugin removed says that the order is wrong', () => {
  expect(report.strippedFirst).toContain('The type of parameter "order" is any')
  expect(report.strippedFirst).toContain('agent.ts before toolwright/infer read it. Let toolwright/infer run first')
})

test('files that `include` leaves out stay as they are', () => {
  const { code, asked } = report.excluded
  expect(code).toContain('tools: [getWeather, cancel]')
  expect(asked).toEqual([join(folder, 'excluded/agent.ts'), join(folder, 'excluded/tools.ts')])
})

function built(name: string): Built {
  const result = report.built[name]
  if (typeof result !== 'object') throw new Error(`${name}: ${result}`)
  return result
}

async function run(args: readonly string[], cwd: string): Promise<string> {
  const flags = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...args], {
    cwd,
    maxBuffer: 1e8,
    env: cleanEnv(),
  })
  return stdout
}

/** The environment without the variables of the vitest that runs this test. */
function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(VITEST|VITE|TEST|NODE_ENV)/.test(key)))
}
