import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SavedCall, testFileName, writeTest } from './write-test.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/** Beside the examples, where the import of the agent and of toolwright work as for a user. */
const folder = `${root}examples/.saved-calls-${process.pid}`

beforeAll(() => mkdir(folder))
afterAll(() => rm(folder, { recursive: true, force: true }))

const saved: SavedCall = {
  agent: 'weather',
  tool: 'get_weather',
  args: { city: 'Oslo' },
  response: { city: 'Oslo', celsius: -3 },
  file: '../weather.ts',
  runner: 'node:test',
}

/** Runs saved calls with Node, in one process because its start takes a second. True for each that passes. */
async function pass(calls: { readonly [title: string]: Partial<SavedCall> }): Promise<boolean[]> {
  const names = Object.keys(calls)
  for (const name of names) await writeFile(`${folder}/${name}.ts`, writeTest({ ...saved, ...calls[name] }))
  await writeFile(`${folder}/all.ts`, names.map((name) => `import './${name}.ts'`).join('\n'))
  const flags = ['--conditions=toolwright:source', '--test-reporter=tap', `${folder}/all.ts`]
  const output = await promisify(execFile)(process.execPath, flags).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  )
  return Array.from(output.matchAll(/^(not )?ok \d+ - /gm), ([, not]) => not === undefined)
}

test('a saved call runs as a test beside its agent, and fails when the result is another', async () => {
  const failed = { error: 'Nobody measures in Rome.', errorCode: 'NOT_FOUND' }
  const passed = await pass({
    result: {},
    failure: { args: { city: 'Rome' }, response: failed },
    otherResult: { response: { city: 'Oslo', celsius: 30 } },
    otherFailure: { response: failed },
  })
  expect(passed).toEqual([true, true, false, false])
}, 20_000)

test('a saved call can use vitest instead of node:test', () => {
  const code = writeTest({ ...saved, runner: 'vitest' })
  expect(code).toContain("import { expect, test } from 'vitest'")
  expect(code).not.toContain('assert')
})

test('names and values in a saved call cannot add code to the test file', () => {
  const evil = `'); process.exit(9); ('\u202e\n*/`
  const args: unknown = JSON.parse('{"__proto__":{"a":1}}')
  const code = writeTest({ ...saved, tool: evil, agent: evil, file: evil, args: args as SavedCall['args'] })
  expect(code).not.toContain('\u202e')
  expect(code).toContain('JSON.parse(')
  // every occurrence is inside a string literal, with its quotation mark and newline escaped
  expect(code.split('process.exit(9)')).toHaveLength(code.split(`"'); process.exit(9)`).length)
  expect(testFileName(evil)).toMatch(/^[\w-]+\.test\.ts$/)
})
