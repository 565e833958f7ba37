import { beforeAll, describe, expect, test } from 'vitest'
import fc from '../../../src/core/base/fast-check.test-kit.ts'
import { arbitraryOf } from './arbitrary.ts'
import { callText } from './calls.ts'
import { checkCalls, checkWithTypeScript5, checkWithTypeScript7 } from './check-calls.ts'
import { names } from './expected/names.ts'
import { objects } from './expected/objects.ts'
import { positional } from './expected/positional.ts'
import { results } from './expected/results.ts'
import type { Expected, ExpectedTable } from './expected/schema.ts'
import { tags } from './expected/tags.ts'
import { values } from './expected/values.ts'
import { mutationsOf } from './mutations.ts'
import { type ReadOptions, readTable, type Table, TOPICS } from './read-table.ts'
import { type SignatureTool, signatureTool } from './signature-tool.ts'
import { wrongCalls } from './wrong-calls.ts'

/** How many values are drawn for each signature. */
const VALUES = 20
const SEED = 16

const expected = new Map(
  Object.entries({ names, tags, objects, positional, values, results }).flatMap(([topic, table]) =>
    Object.entries(table satisfies ExpectedTable).map(([path, entry]): [string, Expected] => [
      `${topic}.${path}`,
      entry,
    ]),
  ),
)

let table: Table
const tools = new Map<string, SignatureTool>()
const drawn = new Map<string, unknown[]>()

beforeAll(() => {
  table = readTable()
  for (const signature of table.signatures) {
    tools.set(signature.key, signatureTool(signature))
    drawn.set(signature.key, fc.sample(arbitraryOf(signature.inferred.parameters), { seed: SEED, numRuns: VALUES }))
  }
}, 30_000)

test('the table has at least 100 signatures, and each has an expected declaration', () => {
  expect(table.mistakes).toEqual([])
  expect(expected.size).toBeGreaterThanOrEqual(100)
  expect(table.signatures.map(({ key }) => key).sort()).toEqual([...expected.keys()].sort())
})

describe.each([...expected])('%s', (key, { name, description, parameters, response }) => {
  test('gives the expected declaration', () => {
    expect(tools.get(key)?.declaration).toEqual({
      name: name ?? key.split('.').at(-1),
      description,
      ...(parameters && { parametersJsonSchema: parameters }),
      ...(response && { responseJsonSchema: response }),
    })
  })

  if (!parameters) {
    test('drops arguments, because the function has none', () => {
      expect(tools.get(key)?.parse({ extra: 1 })).toEqual({ value: {} })
    })
    return
  }

  test('accepts values of its schema and refuses changed ones', () => {
    const schema = table.signatures.find((signature) => signature.key === key)?.inferred.parameters ?? {}
    const { parse } = tools.get(key) as SignatureTool
    let refused = 0
    for (const value of drawn.get(key) ?? []) {
      expect(parse(value), JSON.stringify(value)).toHaveProperty('value')
      for (const { what, value: changed } of mutationsOf(schema, value)) {
        expect(parse(changed), `${what}: ${JSON.stringify(changed)}`).toHaveProperty('issues')
        refused++
      }
    }
    expect(refused).toBeGreaterThanOrEqual(VALUES)
  })
})

const checks = { 'TypeScript 7': checkWithTypeScript7, 'TypeScript 5.9': checkWithTypeScript5 }

describe.each(Object.entries(checks))('%s', (_, check) => {
  test('accepts every drawn value as arguments of its function', async () => {
    const calls = [...tools.values()].flatMap(({ key, receivedFor }) =>
      (drawn.get(key) ?? []).map((args) => callText(key, receivedFor(args))),
    )
    expect(calls.length).toBe(expected.size * VALUES)
    expect(await checkCalls(calls, check)).toBe('')
  })

  test('refuses a value that does not fit its function', async () => {
    const output = await checkCalls([callText('positional.oneNumber', ['five'])], check)
    expect(output).toContain("Argument of type 'string' is not assignable to parameter of type 'number'")
  })
})

test('TypeScript refuses the values that a schema refuses, except where the schema is stricter on purpose', async () => {
  const calls = table.signatures.flatMap(wrongCalls)
  expect(calls.length).toBeGreaterThan(1000)
  expect(await checkCalls(calls, checkWithTypeScript7)).toBe('')
})

test.each<[string, readonly string[], ReadOptions]>([
  ['the compiler has seen the types in another order', TOPICS.toReversed(), { seenFirst: 'prelude' }],
  ['the files have the line ends of Windows', TOPICS, { hasWindowsLines: true }],
])('a declaration is the same, byte for byte, when %s', (_, topics, options) => {
  const texts = ({ signatures }: Table): Map<string, string> =>
    new Map(signatures.map(({ key, inferred }) => [key, JSON.stringify(inferred)]))
  expect(texts(readTable(topics, options))).toEqual(texts(table))
})
