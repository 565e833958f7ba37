import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ToolwrightError } from '../error/error.ts'
import { compileSchema } from './compile.ts'
import { describeIssues, type ParseResult } from './issues.ts'
import type { Schema } from './schema-types.ts'

const SECRET = 'hunter2-secret'

const kinds: [string, Schema][] = [
  [
    'Zod',
    z.object({
      city: z.string(),
      units: z.enum(['celsius', 'fahrenheit']).default('celsius'),
      days: z.int().max(9).default(3),
      tags: z.array(z.object({ name: z.string() })).optional(),
    }),
  ],
  [
    'ArkType',
    type({
      city: 'string',
      units: "'celsius' | 'fahrenheit' = 'celsius'",
      days: 'number.integer <= 9 = 3',
      'tags?': type({ name: 'string' }).array(),
    }),
  ],
  [
    'Valibot',
    toStandardJsonSchema(
      v.object({
        city: v.string(),
        units: v.optional(v.picklist(['celsius', 'fahrenheit']), 'celsius'),
        days: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(9)), 3),
        tags: v.optional(v.array(v.object({ name: v.string() }))),
      }),
    ),
  ],
  [
    'JSON Schema',
    {
      type: 'object',
      properties: {
        city: { type: 'string' },
        units: { enum: ['celsius', 'fahrenheit'], default: 'celsius' },
        days: { type: 'integer', maximum: 9, default: 3 },
        tags: { type: 'array', items: { $ref: '#/$defs/tag' } },
      },
      required: ['city'],
      $defs: { tag: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
    },
  ],
]

describe.each(kinds)('a schema written in %s', (_, schema) => {
  const { jsonSchema, parse } = compileSchema(schema, 'Tool "weather"', { object: true })

  test('converts to an object schema in which properties with defaults are optional', () => {
    expect(jsonSchema).toMatchObject({ type: 'object', required: ['city'] })
    expect(jsonSchema).not.toHaveProperty('$schema')
    expect(JSON.stringify(jsonSchema)).not.toContain('9007199254740991')
  })

  test('returns a copy of the value with defaults, synchronously', () => {
    const input = { city: 'Oslo', tags: [{ name: 'a' }] }
    expect(parse(input)).toMatchObject({ value: { ...input, units: 'celsius', days: 3 } })
    expect(input).toEqual({ city: 'Oslo', tags: [{ name: 'a' }] })
  })

  test('names every invalid field and never shows the value', () => {
    const parsed = parse({ units: SECRET, days: 12, tags: [{ name: 'a' }, { name: { [SECRET]: SECRET } }] })
    const { issues } = parsed as { issues: { path: string; expected: string }[] }
    expect(issues.map(({ path }) => path).sort()).toEqual(['city', 'days', 'tags[1].name', 'units'])
    expect(JSON.stringify(issues)).not.toContain(SECRET)
    const of = (path: string) => issues.find((issue) => issue.path === path)?.expected
    expect(of('units')).toContain('"celsius"')
    expect(of('units')).toContain('"fahrenheit"')
    expect(of('days')).toContain('9')
    expect(of('tags[1].name')).toContain('string')
  })

  test('refuses a value that is not an object', () => {
    for (const value of ['text', 5, null, [], true, undefined]) expect(parse(value)).toHaveProperty('issues')
  })

  test('accepts keys such as __proto__ and constructor as data', () => {
    const value = JSON.parse('{"city":"Oslo","__proto__":{"polluted":true},"constructor":1,"toString":2}')
    const parsed = parse(value) as { value?: { polluted?: boolean } }
    expect(parsed.value?.polluted).toBeUndefined()
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('returns an issue for a value that is nested 10,000 levels deep, cyclic or huge', () => {
    let deep: unknown = 1
    for (let i = 0; i < 10_000; i++) deep = { tags: [deep] }
    expect(parse(deep)).toHaveProperty('issues')
    const cyclic: { [key: string]: unknown } = { city: 'Oslo' }
    cyclic.self = cyclic
    expect(parse(cyclic)).toHaveProperty('issues')
    expect(parse({ city: 'Oslo', tags: new Array(1_000_000).fill({ name: 1 }) })).toHaveProperty('issues')
    expect(parse({ city: 'Oslo', tags: new Array(150_000).fill(1) })).toHaveProperty('issues')
  })

  test('is compiled once per schema object', () => {
    expect(compileSchema(schema, 'elsewhere')).toBe(compileSchema(schema, 'Tool "weather"'))
  })
})

const inherited: [string, Schema][] = [
  ['Zod', z.object({ toString: z.string(), constructor: z.any() })],
  ['ArkType', type({ toString: 'string', constructor: 'unknown' })],
  ['Valibot', toStandardJsonSchema(v.object({ toString: v.string(), constructor: v.any() }))],
  [
    'JSON Schema',
    { type: 'object', properties: { toString: { type: 'string' }, constructor: {} }, required: ['toString'] },
  ],
]
test.each(inherited)(
  'a schema written in %s reports a missing argument called toString and accepts a given one',
  (_, schema) => {
    const { parse } = compileSchema(schema, 'Tool "t"')
    const parsed = parse({}) as ParseResult
    const issues = parsed.issues ?? []
    expect(issues.map(({ path }) => path)).toContain('toString')
    const partial = parse({ toString: 'x' }) as ParseResult
    const own = Object.getOwnPropertyDescriptor(partial.value ?? {}, 'constructor')
    expect(own?.value).toBeUndefined()
    expect(parse({ toString: 'x', constructor: 1 })).toMatchObject({ value: { toString: 'x', constructor: 1 } })
  },
)

describe('a Zod schema', () => {
  const issues = (schema: Schema, value: unknown) => compileSchema(schema, 'Tool "t"').parse(value)

  test('keeps descriptions and bounds in the JSON Schema', () => {
    const { jsonSchema } = compileSchema(z.object({ n: z.int().min(2).describe('how many') }), 'Tool "t"')
    expect(jsonSchema).toMatchObject({ properties: { n: { minimum: 2, description: 'how many' } } })
  })

  test('names the alternatives of a union, and the invalid fields of the branch that was meant', () => {
    const schema = z.object({ id: z.union([z.string(), z.number()]) })
    expect(issues(schema, { id: true })).toEqual({ issues: [{ path: 'id', expected: 'string or number' }] })
    const shapes = z.object({ at: z.union([z.string(), z.object({ lat: z.number() })]) })
    expect(issues(shapes, { at: { lat: SECRET } })).toEqual({ issues: [{ path: 'at.lat', expected: 'number' }] })
    const tagged = z.object({
      a: z.discriminatedUnion('t', [z.object({ t: z.literal('x') }), z.object({ t: z.literal('y') })]),
    })
    expect(issues(tagged, { a: { t: SECRET } })).toEqual({ issues: [{ path: 'a.t', expected: '"x" or "y"' }] })
  })

  test('shows the message of a refinement unless it repeats the value', () => {
    const schema = z.object({
      even: z.number().refine((n) => n % 2 === 0, { error: 'an even number' }),
      odd: z.string({ error: (issue) => `not ${String(issue.input)}` }),
    })
    expect(issues(schema, { even: 3, odd: 77777 })).toEqual({
      issues: [
        { path: 'even', expected: 'a valid value', message: 'an even number' },
        { path: 'odd', expected: 'string' },
      ],
    })
  })

  test('names each unknown key of a strict object', () => {
    expect(issues(z.strictObject({}), { extra: SECRET, 'odd key': 1 })).toEqual({
      issues: [
        { path: 'extra', expected: 'no such property' },
        { path: '["odd key"]', expected: 'no such property' },
      ],
    })
  })

  test('cuts the text of very many issues', { timeout: 30_000 }, () => {
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key ${i}`, i]))
    const names = Array.from({ length: 5_000 }, (_, i) => `a rather long choice ${i}`) as [string, ...string[]]
    for (const [schema, value] of [
      [z.strictObject({}), keys],
      [z.record(z.string(), z.enum(names)), Object.fromEntries(Object.entries(keys).slice(0, 150))],
      [z.array(z.union([z.strictObject({}), z.string()])), [keys]],
      [z.array(z.string()), new Array(100_000).fill(1)],
    ] as const) {
      const { issues: found = [] } = issues(schema, value) as ParseResult
      expect(found.length).toBeGreaterThan(0)
      expect(found.length).toBeLessThanOrEqual(200)
      expect(describeIssues(found).length).toBeLessThan(5_000)
    }
  })

  test('describes formats, lengths and patterns', () => {
    const schema = z.object({
      mail: z.email(),
      short: z.string().min(3),
      list: z.array(z.string()).max(1),
      code: z.string().regex(/^a/),
      five: z.number().multipleOf(5),
    })
    expect(issues(schema, { mail: SECRET, short: 'x', list: ['a', 'b'], code: SECRET, five: 3 })).toEqual({
      issues: [
        { path: 'mail', expected: 'valid email' },
        { path: 'short', expected: 'string of at least 3 characters' },
        { path: 'list', expected: 'array of at most 1 items' },
        { path: 'code', expected: 'text that matches /^a/' },
        { path: 'five', expected: 'multiple of 5' },
      ],
    })
  })

  test('awaits an asynchronous check and reports one that throws or rejects as an issue', async () => {
    const later = z.object({ a: z.string().refine(async (text) => text === 'ok', { error: 'the word ok' }) })
    await expect(issues(later, { a: 'ok' })).resolves.toMatchObject({ value: { a: 'ok' } })
    await expect(issues(later, { a: SECRET })).resolves.toEqual({
      issues: [{ path: 'a', expected: 'a valid value', message: 'the word ok' }],
    })
    const throws = z.object({
      a: z.string().refine(() => {
        throw new Error(SECRET)
      }),
    })
    const jsonSchema = { input: () => ({ type: 'object' }), output: () => ({}) }
    const validate = () => Promise.reject(new Error(SECRET))
    const rejects = { '~standard': { version: 1, vendor: 'mine', validate, jsonSchema } }
    // biome-ignore lint/suspicious/noThenProperty: a promise that is not the native one
    const promise = { then: (done: (result: unknown) => void) => done({ issues: [{ message: 'x' }] }) }
    const thenable = { '~standard': { ...rejects['~standard'], validate: () => promise } }
    const broken = { '~standard': { ...rejects['~standard'], validate: async () => ({ issues: 5 }) } }
    for (const schema of [throws, rejects, thenable, broken]) {
      const parsed = await issues(schema, { a: 'x' })
      expect(parsed).toHaveProperty('issues')
      expect(JSON.stringify(parsed)).not.toContain(SECRET)
    }
  })
})

test('an ArkType schema describes two constraints without the value', () => {
  const { parse } = compileSchema(type({ both: 'string > 3 & /^a/', '+': 'reject' }), 'Tool "t"')
  const parsed = parse({ both: 'zq7', extra: SECRET })
  expect(parsed).toEqual({
    issues: expect.arrayContaining([
      { path: 'both', expected: 'at least length 4' },
      { path: 'both', expected: 'matched by ^a' },
      { path: 'extra', expected: 'no such property' },
    ]),
  })
  expect(JSON.stringify(parsed)).not.toContain('zq7')
})

test('a Valibot schema runs a custom check that has no JSON Schema and shows its message', () => {
  const schema = toStandardJsonSchema(
    v.strictObject({
      even: v.pipe(
        v.number(),
        v.check((n) => n % 2 === 0, 'an even number'),
      ),
      bare: v.pipe(
        v.string(),
        v.check((text) => text === 'ok'),
      ),
      mail: v.pipe(v.string(), v.email()),
    }),
  )
  const parsed = compileSchema(schema, 'Tool "t"').parse({ even: 3, bare: SECRET, mail: SECRET, extra: SECRET })
  expect(parsed).toEqual({
    issues: [
      { path: 'even', expected: 'a valid value', message: 'an even number' },
      { path: 'bare', expected: 'a valid value' },
      { path: 'mail', expected: 'valid email' },
      { path: 'extra', expected: 'no such property' },
    ],
  })
})

describe('compileSchema() rejects a schema that it cannot convert to the JSON Schema of a tool', () => {
  const message = (schema: Schema, options = {}) => {
    try {
      compileSchema(schema, 'Tool "pay"', options)
    } catch (error) {
      if (error instanceof ToolwrightError && error.code === 'INVALID_CONFIG') return error.message
    }
    return undefined
  }

  test('such as a plain Valibot schema, and advises toStandardJsonSchema()', () => {
    expect(message(v.object({}))).toMatch(/Tool "pay".*toStandardJsonSchema.*@valibot\/to-json-schema/)
  })
  test('such as z.date(), and names the tool and the type', () => {
    expect(message(z.object({ at: z.date() }))).toMatch(/Tool "pay".*Date/)
  })
  test('such as z.string() for parameters, which need an object schema', () => {
    expect(message(z.string(), { object: true })).toMatch(/object schema/)
    expect(message(z.any(), { object: true })).toMatch(/object schema/)
    expect(
      message(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), { object: true }),
    ).toBeUndefined()
  })
})

test('compileSchema() shows paths but no messages of an unknown schema library', () => {
  const validate = () => ({ issues: [{ message: `bad ${SECRET}`, path: ['a', { key: 1 }] }] })
  const jsonSchema = { input: () => ({ type: 'object' }), output: () => ({}) }
  const schema = { '~standard': { version: 1, vendor: 'mine', validate, jsonSchema } }
  expect(compileSchema(schema, 'Tool "t"').parse({})).toEqual({ issues: [{ path: 'a[1]', expected: 'a valid value' }] })
})
