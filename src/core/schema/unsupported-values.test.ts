import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import Type from 'typebox'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import * as zm from 'zod/mini'
import { z as z3 } from 'zod3'
import { z as z34 } from 'zod3/v4'
import { ToolwrightError } from '../error/error.ts'
import { compileSchema } from './compile.ts'
import type { Schema } from './schema-types.ts'

function refusal(schema: Schema): string {
  try {
    compileSchema(schema, 'Tool "pay"', { object: true })
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'INVALID_CONFIG') return error.message
    throw error
  }
  return 'accepted'
}

const valibot = (entries: v.ObjectEntries): Schema => toStandardJsonSchema(v.object(entries))
const json = (when: unknown): Schema => ({ type: 'object', properties: { when } })

const refused: [string, Schema, RegExp][] = [
  [
    'z.date()',
    z.object({ trips: z.array(z.object({ when: z.date() })) }),
    /"trips\[\]\.when".*a Date.*z\.iso\.datetime\(\)/,
  ],
  ['z.coerce.date()', z.object({ when: z.coerce.date() }), /"when".*a Date.*pipe\(z\.coerce\.date\(\)\)/],
  ['z.bigint()', z.object({ when: z.bigint().optional() }), /"when".*a bigint.*string or an integer/],
  ['z.literal(1n)', z.object({ when: z.literal(1n) }), /"when".*a bigint/],
  ['z.symbol()', z.object({ when: z.symbol() }), /"when".*a symbol/],
  ['z.function()', z.object({ when: z.function() as unknown as z.ZodType }), /"when".*a function/],
  ['z.map()', z.object({ when: z.map(z.string(), z.string()) }), /"when".*a Map.*a record/],
  ['z.set()', z.object({ when: z.set(z.string()).nullable() }), /"when".*a Set.*an array/],
  ['z.undefined()', z.object({ when: z.undefined() }), /"when".*undefined.*optional/],
  ['z.instanceof()', z.object({ when: z.instanceof(URL) }), /"when".*custom type.*convert it in run/],
  ['z.file()', z.object({ when: z.file() }), /"when".*a File/],
  ['z.transform()', z.object({ when: z.transform(String) }), /"when".*z\.string\(\)\.transform/],
  ['v.date()', valibot({ when: v.date() }), /"when".*a Date.*isoTimestamp/],
  ['v.bigint()', valibot({ when: v.optional(v.bigint()) }), /"when".*a bigint/],
  ['v.map()', valibot({ when: v.map(v.string(), v.string()) }), /"when".*a Map/],
  ['v.instance()', valibot({ when: v.instance(URL) }), /"when".*instance of a class/],
  ['v.undefined()', valibot({ when: v.undefined() }), /"when".*undefined/],
  ['ArkType Date', type({ trip: { when: 'Date' } }), /"trip\.when".*a Date.*string\.date\.iso/],
  ['ArkType bigint', type({ when: 'bigint[]' }), /"when\[\]".*a bigint/],
  ['ArkType Map', type({ when: 'Map' }), /"when".*a Map/],
  ['ArkType class', type({ when: type.instanceOf(URL) }), /"when".*instance of a class/],
  ['ArkType undefined', type({ when: 'undefined' }), /"when".*undefined/],
  ['TypeBox bigint', Type.Object({ when: Type.BigInt() }), /#\/properties\/when\/type.*a bigint/],
  [
    'TypeBox function',
    Type.Object({ when: Type.Function([], Type.String()) }),
    /#\/properties\/when\/type.*a function/,
  ],
  ['type: "Date"', json({ type: 'Date' }), /#\/properties\/when\/type.*a Date.*date-time/],
  ['a Date as default', json({ default: new Date(0) }), /#\/properties\/when\/default.*a Date/],
  ['a Date in a default', json({ default: { from: [new Date(0)] } }), /when\/default\/from\/0.*a Date/],
  ['a bigint in enum', json({ enum: [1, 2n] }), /when\/enum\/1.*a bigint/],
  ['a function as const', json({ const: () => 1 }), /when\/const.*a function/],
  ['a Map as default', json({ default: new Map() }), /when\/default.*a Map/],
  ['a class instance in examples', json({ examples: [new URL('http://a.example')] }), /when\/examples\/0.*instance/],
  ['NaN in enum', json({ enum: [Number.NaN] }), /when\/enum\/0.*NaN/],
  ['undefined in enum', json({ enum: [undefined] }), /when\/enum\/0.*undefined/],
  ['a Date as schema', json(new Date(0)), /#\/properties\/when is not valid: a schema must be an object/],
  ['Zod 3', z3.object({ city: z3.string() }), /Zod 3 schema.*npm i zod@latest/],
  ['Zod 3.23', zod323(z3.object({ city: z3.string() })), /Zod 3 schema.*npm i zod@latest/],
  ['"zod/v4" of zod@3.25', z34.object({ city: z34.string() }), /Zod 4\.0; .*since 4\.2.*npm i zod@latest/],
  ['zod/mini', zm.object({ city: zm.string() }), /"zod\/mini".*z\.toJSONSchema\(schema\)/],
]

/** The schema as Zod made it before it was a Standard Schema. */
function zod323<T extends object>(schema: T): T {
  delete (schema as { '~standard'?: unknown })['~standard']
  return schema
}

test.each(refused)(
  'compileSchema() refuses %s when the tool is built, with the position and advice',
  (_, schema, expected) => {
    expect(refusal(schema)).toMatch(expected)
    expect(refusal(schema)).toContain('Tool "pay"')
  },
)

describe('the body gets the transformed value of a JSON argument', () => {
  const toDate = (text: string) => new Date(text)
  const sent = '2026-01-02T03:04:05.000Z'
  const dated: [string, Schema][] = [
    ['pipe to z.coerce.date()', z.object({ when: z.iso.datetime().pipe(z.coerce.date()) })],
    ['transform', z.object({ when: z.iso.datetime().transform(toDate) })],
    [
      'z.codec()',
      z.object({
        when: z.codec(z.iso.datetime(), z.date(), { decode: toDate, encode: (date) => date.toISOString() }),
      }),
    ],
    ['v.transform()', valibot({ when: v.pipe(v.string(), v.isoTimestamp(), v.transform(toDate)) })],
    ['string.date.iso.parse', type({ when: 'string.date.iso.parse' })],
  ]
  test.each(dated)('of a schema with %s', (_, schema) => {
    const { jsonSchema, parse } = compileSchema(schema, 'Tool "pay"', { object: true })
    expect(jsonSchema).toMatchObject({ properties: { when: { type: 'string' } } })
    expect(parse({ when: sent })).toEqual({ value: { when: new Date(sent) } })
    expect(parse({ when: 'soon' })).toHaveProperty('issues')
  })

  test('of a schema with z.preprocess() and of an optional property', () => {
    const schema = z.object({ when: z.preprocess((value) => String(value), z.string()), also: z.string().optional() })
    expect(compileSchema(schema, 'Tool "pay"').parse({ when: 5 })).toEqual({ value: { when: '5' } })
  })
})

test('compileSchema() leaves undefined out of the JSON Schema of a union', () => {
  for (const schema of [type({ 'a?': 'string | undefined' }), valibot({ a: v.union([v.string(), v.undefined()]) })])
    expect(compileSchema(schema, 'Tool "pay"').jsonSchema).toMatchObject({
      properties: { a: { anyOf: [{ type: 'string' }] } },
    })
})

test('compileSchema() accepts zod/mini schemas through z.toJSONSchema(), with refinements, defaults and transforms', () => {
  const schema = zm.object({
    city: zm.string().check(zm.minLength(3, 'Give the full city name')),
    days: zm._default(zm.number(), 3),
    tag: zm.pipe(
      zm.string(),
      zm.transform((text) => text.length),
    ),
  })
  const { jsonSchema, parse } = compileSchema(zm.toJSONSchema(schema, { io: 'input' }), 'Tool "pay"', { object: true })
  expect(jsonSchema).toMatchObject({ type: 'object', properties: { city: { minLength: 3 }, tag: { type: 'string' } } })
  expect(parse({ city: 'Oslo', tag: 'abc' })).toEqual({ value: { city: 'Oslo', days: 3, tag: 3 } })
  expect(parse({ city: 'O', tag: 'abc' })).toMatchObject({ issues: [{ message: 'Give the full city name' }] })
})
