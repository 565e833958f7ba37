import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { compileSchema } from './compile.ts'
import { describeIssues } from './issues.ts'
import type { Schema } from './schema-types.ts'

async function told(schema: Schema, value: unknown): Promise<string> {
  const { issues = [] } = await compileSchema(schema, 'Tool "t"').parse(value)
  return describeIssues(issues)
}

const SECRET = 'hunter2-secret'
const NAME = 'Give the full city name'

const kinds: [string, Schema, string][] = [
  ['Zod', z.object({ city: z.string().min(3, NAME) }), 'string of at least 3 characters'],
  ['Valibot', toStandardJsonSchema(v.object({ city: v.pipe(v.string(), v.minLength(3, NAME)) })), '>=3'],
  ['ArkType', type({ city: type('string >= 3').configure({ message: NAME }) }), 'at least length 3'],
]
test.each(kinds)(
  'describeIssues() shows the message of the schema beside the expected value: %s',
  async (_, schema, expected) => {
    expect(await told(schema, { city: 'O' })).toBe(`city: ${NAME} (expected ${expected})`)
  },
)

test('describeIssues() shows the messages of types, choices, formats, unions and refinements', async () => {
  const schema = z.object({
    day: z.string('Name the day'),
    unit: z.enum(['c', 'f'], 'Pick a unit'),
    mail: z.email({ error: 'Ask for the address' }),
    id: z.union([z.string(), z.number()], 'A name or a number'),
    word: z.string().refine((text) => text === 'q', 'Must be q'),
    step: z.number().multipleOf(5, 'Steps of five'),
    more: z.strictObject({}, 'Nothing else'),
  })
  const value = { unit: 'k', mail: 'x', id: true, word: 'w', step: 3, more: { a: 1 } }
  expect(await told(schema, value)).toBe(
    'day: Name the day (expected string); unit: Pick a unit (expected "c" or "f"); mail: Ask for the address (expected ' +
      'valid email); id: A name or a number; word: Must be q; step: Steps of five (expected multiple of 5); ' +
      'more.a: Nothing else (expected no such property)',
  )
})

test('describeIssues() replaces the default messages of the schema libraries', async () => {
  const zod = z.object({
    a: z.string(),
    b: z.email(),
    c: z.number().max(3),
    d: z.enum(['x', 'y']),
    e: z.iso.date(),
    f: z.uuid(),
    g: z.number().multipleOf(2),
    h: z.string().refine(() => false),
  })
  const value = { b: SECRET, c: 7, d: SECRET, e: SECRET, f: SECRET, g: 3, h: SECRET }
  const valibot = toStandardJsonSchema(v.object({ a: v.number(), b: v.pipe(v.string(), v.email()) }))
  const arkType = type({ a: 'number', b: 'string.email', c: 'string | boolean', d: 'string > 3 & /^a/' })
  for (const [schema, given] of [
    [zod, value],
    [valibot, { a: SECRET, b: SECRET }],
    [arkType, { a: SECRET, b: SECRET, c: 77_777, d: 'zq7' }],
  ] as const) {
    const { issues = [] } = await compileSchema(schema, 'Tool "t"').parse(given)
    expect(issues.length).toBeGreaterThan(1)
    for (const issue of issues) expect(issue).not.toHaveProperty('message')
    expect(JSON.stringify(issues)).not.toMatch(/hunter2|77777|zq7|eceived/)
  }
})

test('describeIssues() leaves out a message that repeats the value', async () => {
  const zod = z.object({ pin: z.string().refine(() => false, { error: ({ input }) => `not ${String(input)}` }) })
  const valibot = toStandardJsonSchema(v.object({ pin: v.picklist(['a'], ({ received }) => `not ${received}`) }))
  const arkType = type({ pin: type('string').narrow((text, ctx) => ctx.reject({ message: `not ${text}` })) })
  for (const schema of [zod, valibot, arkType]) {
    const text = await told(schema, { pin: SECRET })
    expect(text).toContain('pin: expected')
    expect(text).not.toContain(SECRET)
  }
})

test('describeIssues() cuts a very long message', async () => {
  expect((await told(z.object({ a: z.string('x'.repeat(100_000)) }), {})).length).toBeLessThan(600)
})
