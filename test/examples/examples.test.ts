import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { node } from './child.ts'

/** What each example must have written by its end. */
const expected = new Map([
  ['weather', ['It is 66 °F in Lima.']],
  ['team', ['front_desk: I asked around. It is in Hamburg.', 'billing: The second charge', 'It is in Lyon.']],
  [
    'pipeline',
    [
      'place -> place:',
      'sights -> sights:',
      'editor -> draft: Oslo lies at the end of a fjord, where one can see the opera.\n',
    ],
  ],
  ['policies', ['"ssn":"[redacted]"', '"number":"[redacted]"', '6 calls, 3 attempts']],
  ['test-your-tool', ['The tool adds', 'The agent recovers', 'It was told: Invalid arguments for add_to_cart']],
])
const notAnExample = ['offline']

const names = globSync('examples/*.ts').map((file) => basename(file, '.ts'))
const examples = names.filter((name) => !notAnExample.includes(name)).sort()

test('every example is run here', () => expect(examples).toEqual([...expected.keys()].sort()))

test('examples are compiled with everything else', () => {
  expect(JSON.parse(readFileSync('tsconfig.json', 'utf8')).include).toContain('examples')
})

test.each(examples)('%s fits a screen and starts with what it shows', (name) => {
  const text = readFileSync(`examples/${name}.ts`, 'utf8')
  expect(text).toMatch(/^\/\/ .{20,}/)
  expect(text.split('\n').length).toBeLessThanOrEqual(61)
})

test.each(examples)('%s runs, says what it should, and ends', async (name) => {
  const { code, out, errors } = await node([`examples/${name}.ts`])
  expect(errors).toBe('')
  for (const text of expected.get(name) ?? []) expect(out).toContain(text)
  expect(out).not.toMatch(/078-05-1120|4111111111111111/)
  expect(code).toBe(0)
})

const withTour = examples.filter((name) => readFileSync(`examples/${name}.ts`, 'utf8').includes('export const tour'))

test.each(withTour)('%s can be talked to', async (name) => {
  const { code, out, errors } = await node(['src/cli/index.ts', 'run', `examples/${name}.ts`])
  expect(errors).toBe('')
  expect(out).toMatch(/^> /)
  expect(out).toContain('->')
  expect(code).toBe(0)
})
