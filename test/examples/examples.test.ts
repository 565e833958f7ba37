import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { node } from './child.ts'

/** Text that each example must print. */
const expected = new Map([
  [
    'functions',
    [
      'It is 22 °C in Oslo.',
      'Booked (restaurant: Maaemo, people: 4).',
      'Lamps: 12, chairs: 4.',
      'A-8 (refunded: 90).',
      "result: [ { id: 'A-8', price: 90, at: '2026-03-02T09:00:00.000Z' } ]",
    ],
  ],
  ['weather', ['It is 66 °F in Lima.']],
  ['team', ['front_desk: It is in Hamburg.', 'billing: Charges:\n- C-1 (amount: 20 EUR)\n', 'It is in Lyon.']],
  [
    'pipeline',
    [
      'place -> place:',
      'sights -> sights:',
      'editor -> draft: Oslo lies at the end of a fjord. See the opera, the castle.\n',
      'editor -> draft: Oslo lies at the end of a fjord. See the opera.\n',
    ],
  ],
  ['policies', ['Ada (id: 1, ssn: [redacted]', 'number: [redacted]', '4 calls, 3 attempts']],
  [
    'test-your-tool',
    [
      'The tool adds',
      'The agent recovers',
      'It was told: Invalid arguments for add_to_cart',
      'A replay does the same.',
    ],
  ],
])
/** The message when no API key is set. */
const noKey = 'Model: rules, no language model.\nFor one set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY.\n'

const notAnExample = ['model']

/** Examples whose tools are plain functions. Without the command, Node needs the hook. */
const withPlainFunctions = ['functions']

const names = globSync('examples/*.ts').map((file) => basename(file, '.ts'))
const textOf = (name: string): string => readFileSync(`examples/${name}.ts`, 'utf8')
const examples = names.filter((name) => !notAnExample.includes(name)).sort()

test('the tests run every example', () => expect(examples).toEqual([...expected.keys()].sort()))

test('the examples are part of the compiled program', () => {
  expect(readFileSync('tsconfig.json', 'utf8')).toMatch(/"include": \[[^\]]*"examples"/) // JSON with comments
})

test.each(examples)('example %s has at most 61 lines and starts with a comment about its purpose', (name) => {
  const text = textOf(name)
  expect(text).toMatch(/^\/\/ .{20,}/)
  expect(text.split('\n').length).toBeLessThanOrEqual(61)
})

test.each(examples)('example %s prints the expected text and exits with 0', async (name) => {
  const hook = withPlainFunctions.includes(name) ? ['--import', 'toolwright/infer/register'] : []
  const { code, out, errors } = await node([...hook, `examples/${name}.ts`])
  expect(errors).toBe(textOf(name).includes("'./model.ts'") ? noKey : '')
  for (const text of expected.get(name) ?? []) expect(out).toContain(text)
  expect(out).not.toMatch(/078-05-1120|4111111111111111/)
  expect(code).toBe(0)
})

const withTour = examples.filter((name) => textOf(name).includes('export const tour'))

test.each(withTour)('example %s runs in the chat of toolwright run', async (name) => {
  const { code, out, errors } = await node(['src/apps/cli/index.ts', 'run', `examples/${name}.ts`, '--memory'])
  expect(errors).toBe(textOf(name).includes("'./model.ts'") ? noKey : '')
  expect(out).toMatch(/^> /)
  expect(out).toContain('✓')
  expect(code).toBe(0)
})
