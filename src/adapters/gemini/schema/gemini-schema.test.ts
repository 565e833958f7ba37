import { type Schema, validate } from '@cfworker/json-schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import fc from '../../../core/base/fast-check.test-kit.ts'
import { copyJson, type JsonObject } from '../../../core/base/json.ts'
import { schemaProblem } from '../../testing/server/gemini-schema-rules.ts'
import { argumentsSchema, valueSchema } from './gemini-schema.ts'

const accepts = (schema: JsonObject, value: unknown): boolean =>
  validate(value, copyJson(schema) as Schema, '2020-12', undefined, false).valid

describe('a schema that Gemini supports is unchanged', () => {
  test.each<JsonObject>([
    { type: 'string', description: 'A city' },
    { type: 'string', format: 'date-time' },
    { type: ['integer', 'null'], minimum: 1, maximum: 9 },
    { type: 'string', enum: ['a', 'b'] },
    { type: 'number', enum: [1, 2.5] },
    { type: 'array', items: { type: 'boolean' }, minItems: 1, maxItems: 3 },
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'null' }], items: { type: 'number' } },
    { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: {} }, required: ['a'] }] },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
    { type: 'object', additionalProperties: { type: 'integer' } },
    {},
  ])('%j', (schema) => {
    expect(valueSchema(schema)).toEqual(schema)
  })
})

describe('a schema that Gemini does not support is rewritten', () => {
  const person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

  test.each<[string, JsonObject, JsonObject]>([
    ['const', { const: 'a' }, { type: 'string', enum: ['a'] }],
    ['const of a number', { const: 2.5 }, { type: 'number', enum: [2.5] }],
    ['const null', { const: null }, { type: 'null' }],
    ['const true', { const: true }, { type: 'boolean', description: 'Must be true.' }],
    ['const of an object', { const: { a: 1 } }, { type: 'object', description: 'Must be one of: [{"a":1}]' }],
    ['enum with null', { enum: ['a', null] }, { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] }],
    [
      'enum of two kinds',
      { enum: ['a', 1], description: 'Which' },
      {
        anyOf: [
          { type: 'string', enum: ['a'] },
          { type: 'integer', enum: [1] },
        ],
        description: 'Which',
      },
    ],
    ['enum with values of another type', { type: 'string', enum: ['a', 1] }, { type: 'string', enum: ['a'] }],
    ['enum of whole numbers with type number', { type: 'number', enum: [1, 2] }, { type: 'number', enum: [1, 2] }],
    [
      'exclusive bounds',
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: 'integer', minimum: 1, maximum: 9 },
    ],
    [
      'exclusive bounds of fractions',
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
      { type: 'number', minimum: 0, maximum: 1, description: 'Greater than 0. Less than 1.' },
    ],
    ['both bounds', { type: 'integer', minimum: 5, exclusiveMinimum: 2 }, { type: 'integer', minimum: 5 }],
    ['bounds of draft 4', { type: 'integer', minimum: 5, exclusiveMinimum: true }, { type: 'integer', minimum: 6 }],
    ['multipleOf', { type: 'number', multipleOf: 5 }, { type: 'number', description: 'A multiple of 5.' }],
    [
      'lengths and patterns',
      { type: 'string', description: 'A code', minLength: 2, maxLength: 1, pattern: '^[A-Z]+$' },
      {
        type: 'string',
        description: 'A code. Must match the pattern ^[A-Z]+$ At least 2 characters. At most 1 character.',
      },
    ],
    ['another format', { type: 'string', format: 'email' }, { type: 'string', description: 'Format: email.' }],
    ['formats of OpenAPI', { type: 'integer', format: 'int64' }, { type: 'integer' }],
    [
      'default and examples',
      { type: 'string', default: 'x', examples: ['y'] },
      { type: 'string', description: 'Default: "x". For example "y".' },
    ],
    [
      'annotations without a constraint',
      { $schema: 'x', $id: 'y', $comment: 'c', title: 'T', type: 'string', nullable: true, readOnly: true, 'x-a': 1 },
      { type: 'string' },
    ],
    [
      'uniqueItems',
      { type: 'array', items: {}, uniqueItems: true },
      { type: 'array', items: {}, description: 'All items must be different.' },
    ],
    [
      'tuples of draft 7',
      { type: 'array', items: [{ type: 'string' }], additionalItems: false },
      { type: 'array', prefixItems: [{ type: 'string' }], maxItems: 1, description: 'No more than 1 items.' },
    ],
    [
      'no further items',
      { type: 'array', prefixItems: [{}, {}], items: false },
      { type: 'array', prefixItems: [{}, {}], maxItems: 2, description: 'No more than 2 items.' },
    ],
    [
      'contains',
      { type: 'array', contains: { const: 1 } },
      { type: 'array', description: 'At least 1 item, must fit {"const":1}' },
    ],
    [
      'boolean schemas',
      { type: 'object', properties: { a: true, b: false }, required: ['a'] },
      { type: 'object', properties: { a: {} }, required: ['a'], description: 'Do not send "b".' },
    ],
    [
      'a required property that is not defined',
      { type: 'object', required: ['a'] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
    ],
    [
      'an object without a type',
      { properties: { a: { type: 'string' } } },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    [
      'patternProperties',
      { type: 'object', patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false },
      {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Properties named like ^x- must fit {"type":"string"}',
      },
    ],
    [
      'patternProperties next to other properties',
      { type: 'object', patternProperties: { a: {} } },
      { type: 'object', description: 'Properties named like a must fit {}' },
    ],
    [
      'property counts',
      { type: 'object', minProperties: 1, maxProperties: 2 },
      { type: 'object', description: 'At least 1 property. At most 2 properties.' },
    ],
    [
      'propertyNames',
      { type: 'object', propertyNames: { pattern: '^a' } },
      { type: 'object', description: 'Every property name must fit {"pattern":"^a"}' },
    ],
    [
      'dependentRequired',
      { type: 'object', dependentRequired: { a: ['b'] } },
      { type: 'object', description: 'If "a" is present, these are required: ["b"].' },
    ],
    ['not', { type: 'string', not: { const: 'x' } }, { type: 'string', description: 'Must not fit {"const":"x"}' }],
    [
      'if and then',
      JSON.parse('{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}'),
      { type: 'object', description: 'If it fits {"required":["a"]} it must fit {"required":["b"]}, otherwise true' },
    ],
    [
      'two types',
      { type: ['string', 'number', 'null'], minimum: 1 },
      { anyOf: [{ type: 'string' }, { type: 'number', minimum: 1 }, { type: 'null' }] },
    ],
    [
      'oneOf',
      { oneOf: [{ type: 'string' }, { type: 'null' }] },
      { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'Exactly one of the alternatives must fit.' },
    ],
    ['one alternative', { oneOf: [{ type: 'string' }] }, { type: 'string' }],
    ['an impossible alternative', { anyOf: [false, { type: 'string' }] }, { type: 'string' }],
    [
      'anyOf next to other keywords',
      {
        ...person,
        description: 'Who',
        default: null,
        anyOf: [{ required: ['mail'] }, { properties: { phone: { type: 'string' } } }],
      },
      {
        anyOf: [
          { type: 'object', properties: { name: { type: 'string' }, mail: {} }, required: ['name', 'mail'] },
          { type: 'object', properties: { name: { type: 'string' }, phone: { type: 'string' } }, required: ['name'] },
        ],
        description: 'Who. Default: null.',
      },
    ],
    [
      'allOf',
      {
        allOf: [
          person,
          { properties: { age: { type: 'number' } }, required: ['age'] },
          { properties: { age: { type: 'integer', minimum: 0 } } },
        ],
      },
      {
        type: 'object',
        properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
        required: ['name', 'age'],
      },
    ],
    [
      'allOf of bounds',
      { type: 'string', allOf: [{ minLength: 1 }, { minLength: 3 }, { enum: ['abc', 'b'] }, { enum: ['abc'] }] },
      { type: 'string', enum: ['abc'], description: 'At least 3 characters.' },
    ],
    [
      'allOf that cannot be merged',
      { type: 'string', allOf: [{ pattern: 'a' }, { pattern: 'b' }] },
      { type: 'string', description: 'Must also fit: {"pattern":"b"} Must match the pattern a' },
    ],
    [
      'a reference',
      { type: 'array', items: { $ref: '#/$defs/a~1b' }, $defs: { 'a/b': person } },
      { type: 'array', items: person },
    ],
    [
      'a reference next to other keywords',
      { $ref: '#/definitions/P', description: 'Whose', definitions: { P: person } },
      { ...person, description: 'Whose' },
    ],
    [
      'a reference to another document',
      { $ref: 'https://example.com/person' },
      { description: 'Has the shape of "person".' },
    ],
  ])('%s', (_, schema, expected) => {
    const before = JSON.stringify(schema)
    const rewritten = valueSchema(schema)
    expect(rewritten).toEqual(expected)
    expect(schemaProblem(rewritten, 'it')).toBeUndefined()
    expect(JSON.stringify(schema)).toBe(before)
  })

  test('and a recursive reference is followed twice and then described', () => {
    const tree = {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    }
    const text = JSON.stringify(valueSchema(tree))
    expect(text.match(/"name"/g)).toHaveLength(2)
    expect(text).toContain('{"type":"object","description":"Has the same shape as the whole schema."}')
    expect(schemaProblem(valueSchema(tree), 'it')).toBeUndefined()
  })

  test('and the size of exponentially growing definitions is limited', () => {
    const $defs: JsonObject = { end: { type: 'string' } }
    for (let i = 0; i < 40; i++) {
      const next = { $ref: `#/$defs/${i === 39 ? 'end' : `step${i + 1}`}` }
      $defs[`step${i}`] = { type: 'object', properties: { a: next, b: next } }
    }
    const rewritten = valueSchema({ $ref: '#/$defs/step0', $defs })
    expect(JSON.stringify(rewritten).length).toBeLessThan(300_000)
    expect(schemaProblem(rewritten, 'it')).toBeUndefined()
  })

  test('and the rewritten schema is cached', () => {
    const schema = { type: 'object', properties: { a: { const: 1 } } }
    expect(argumentsSchema(schema)).toBe(argumentsSchema(schema))
    expect(valueSchema(schema)).toBe(valueSchema(schema))
  })
})

describe('the arguments of a Gemini function', () => {
  test('are an object, and notes on the whole object are separate', () => {
    const schema = { properties: { a: { type: 'string' } }, description: 'Two things.', minProperties: 1 }
    expect(argumentsSchema(schema)).toEqual({
      schema: { type: 'object', properties: { a: { type: 'string' } } },
      notes: 'Two things. At least 1 property.',
    })
  })

  test('with alternatives become one object with all properties', () => {
    const { schema, notes } = argumentsSchema({
      oneOf: [
        { type: 'object', properties: { kind: { const: 'mail' }, to: { type: 'string' } }, required: ['kind', 'to'] },
        { type: 'object', properties: { kind: { const: 'call' }, number: { type: 'string' } }, required: ['kind'] },
      ],
    })
    expect(schema).toEqual({
      type: 'object',
      properties: {
        kind: {
          anyOf: [
            { type: 'string', enum: ['mail'] },
            { type: 'string', enum: ['call'] },
          ],
        },
        to: { type: 'string' },
        number: { type: 'string' },
      },
      required: ['kind'],
    })
    expect(notes).toMatch(/^The arguments must fit one of these: \[\{"type":"object".*"const":"mail"/)
    expect(schemaProblem(schema, 'it')).toBeUndefined()
  })

  test('of a large Zod schema are accepted by Gemini and keep every constraint', () => {
    const Place = z.object({
      city: z
        .string()
        .min(1)
        .regex(/^[A-Z]/),
      zip: z.string().length(5).optional(),
    })
    const parameters = z.strictObject({
      id: z.uuid(),
      count: z.int().positive().max(10).default(1),
      ratio: z.number().gt(0).lt(1),
      when: z.iso.datetime().nullable(),
      tags: z.set(z.string()).or(z.array(z.string())).optional().catch([]),
      kind: z.literal('order'),
      flag: z.literal(true),
      place: Place.nullable(),
      to: z.discriminatedUnion('by', [
        z.object({ by: z.literal('mail'), address: z.email() }),
        z.object({ by: z.literal('post'), place: Place }),
      ]),
      extra: z.record(z.string().regex(/^x-/), z.union([z.string(), z.number()])),
      pair: z.tuple([z.string(), z.number()]),
      all: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number().multipleOf(0.5) })),
    })
    const schema = z.toJSONSchema(parameters, { unrepresentable: 'any', io: 'input' }) as JsonObject
    const { schema: rewritten, notes } = argumentsSchema(schema)
    expect(schemaProblem(rewritten, 'it')).toBeUndefined()
    const text = JSON.stringify(rewritten) + notes
    for (const told of [
      '^[A-Z]',
      'Format: uuid',
      'Format: email',
      'Greater than 0',
      'Must be true',
      '^x-',
      'A multiple of 0.5',
    ]) {
      expect(text).toContain(told.replaceAll('\\', '\\\\'))
    }
    expect(rewritten).toMatchObject({
      properties: { count: { minimum: 1, maximum: 10 }, kind: { enum: ['order'] }, when: { anyOf: expect.anything() } },
      additionalProperties: false,
    })
  })
})

// The rewritten schema must allow every value that the validator accepts.
describe('a schema rewritten for Gemini allows everything the original allows', () => {
  const leaf = fc.constantFrom<JsonObject>(
    { type: 'string', minLength: 2, pattern: 'a' },
    { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 3 },
    { type: 'number', exclusiveMaximum: 2, multipleOf: 0.5 },
    { type: ['string', 'integer', 'null'], minimum: 2, maxLength: 1 },
    { enum: ['a', 1, null, true, { a: 1 }] },
    { const: false },
    { not: { type: 'string' } },
    { $ref: '#/$defs/node' },
    {},
  )
  const { schema: anySchema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }), minimum: fc.constant(1) }),
      fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ $ref: fc.constant('#/$defs/node'), anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
      fc.record(
        {
          type: fc.constant('array'),
          items: tie('schema'),
          prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          uniqueItems: fc.boolean(),
        },
        { requiredKeys: ['type'] },
      ),
      fc.record(
        {
          type: fc.constantFrom('object', ['object', 'null'], ['object', 'string']),
          properties: fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(tie('schema'), fc.boolean())),
          required: fc.subarray(['a', 'c']),
          additionalProperties: fc.oneof(tie('schema'), fc.boolean()),
          patternProperties: fc.dictionary(fc.constantFrom('^a', '^x'), tie('schema')),
          if: tie('schema'),
          dependentRequired: fc.constant({ a: ['b'] }),
        },
        { requiredKeys: ['type'] },
      ),
    ),
  }))
  const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>('a', 'aa', 'b', 0, 1, 2, 2.5, -1, null, true, false),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'x'), tie('value'), { maxKeys: 3 }),
    ),
  })).value
  const $defs = { node: { type: 'object', properties: { a: { type: 'string' }, b: { $ref: '#/$defs/node' } } } }

  test('for values, and Gemini accepts every rewritten schema', () => {
    let fits = 0
    fc.assert(
      fc.property(anySchema, fc.array(anyValue, { minLength: 8, maxLength: 8 }), (schema, values) => {
        const whole = { ...schema, $defs }
        const rewritten = valueSchema(whole)
        expect(schemaProblem(rewritten, 'it')).toBeUndefined()
        for (const value of values) {
          if (!accepts(whole, value)) continue
          fits++
          if (!accepts(rewritten, value))
            throw new Error(`${JSON.stringify(value)} is forbidden by ${JSON.stringify(rewritten)}`)
        }
      }),
      { numRuns: 500 },
    )
    expect(fits).toBeGreaterThan(500)
  })

  // alternatives that list properties are assumed to have no others: see mergeAlternatives
  const isOneShape = ({
    anyOf,
    oneOf,
    allOf = [],
  }: {
    anyOf?: unknown
    oneOf?: unknown
    allOf?: JsonObject[]
  }): boolean => !anyOf && !oneOf && allOf.every(isOneShape)

  test('for arguments', () => {
    fc.assert(
      fc.property(
        anySchema,
        fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'x'), anyValue, { maxKeys: 3 }), { minLength: 8 }),
        (schema, values) => {
          fc.pre(isOneShape(schema))
          const whole = { ...schema, $defs }
          const { schema: rewritten } = argumentsSchema(whole)
          expect(rewritten.type).toBe('object')
          expect(schemaProblem(rewritten, 'it')).toBeUndefined()
          for (const value of values) {
            if (accepts(whole, value) && !accepts(rewritten, value))
              throw new Error(`${JSON.stringify(value)} is forbidden by ${JSON.stringify(rewritten)}`)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
