// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema
import { type Schema as CfSchema, validate as otherValidator } from '@cfworker/json-schema'
import { describe, expect, test } from 'vitest'
import fc from '../../base/fast-check.test-kit.ts'
import { compileSchema } from '../compile.ts'
import type { ParseResult } from '../issues.ts'

const fits = (schema: object, value: unknown): boolean =>
  (compileSchema(schema, 'Tool "t"').parse(value) as ParseResult).issues === undefined

type Case = [title: string, schema: object, valid: unknown[], invalid: unknown[]]

describe('compileSchema() validates JSON Schema keywords', () => {
  test.each<Case>([
    ['type integer', { type: 'integer' }, [1, 1.0, -0, 1e20], [1.5, '1', null, Number.NaN]],
    ['a list of types', { type: ['string', 'null'] }, ['', null], [0, [], {}]],
    ['number', { type: 'number' }, [0, 1.5, 3], ['0', Number.POSITIVE_INFINITY]],
    ['const null', { const: null }, [null], [0, false, '']],
    ['const object', { const: { a: [1, { b: 2 }], c: '' } }, [{ c: '', a: [1.0, { b: 2 }] }], [{ a: [1] }, [], '{}']],
    ['const false is not 0', { const: false }, [false], [0, [], '']],
    ['const -0 is 0', { const: -0 }, [0, -0], [false]],
    ['enum', { enum: [1, 'a', [], { x: null }] }, [1, 'a', [], { x: null }], ['1', {}, [1], { x: 0 }]],
    ['const and enum', { const: 1, enum: [2] }, [], [1, 2]],
    ['enum with the name of an Object.prototype member', { enum: ['toString'] }, ['toString'], ['constructor']],
    ['multipleOf decimals', { multipleOf: 0.01 }, [19.99, 0.07, 0, 1e3], [0.015, 1e-3]],
    ['multipleOf large', { multipleOf: 0.5 }, [1e308, 2.5], [0.3]],
    ['multipleOf small', { multipleOf: 0.0001 }, [0.0075], [0.00751]],
    ['multipleOf tiny', { multipleOf: 1e-8 }, [12391239123], [1e-9]],
    ['bounds', { minimum: 1, exclusiveMaximum: 2 }, [1, 1.5, 'x'], [0.9, 2]],
    ['maxLength counts characters', { maxLength: 2 }, ['ab', '😀😀', ''], ['abc', '😀😀😀']],
    ['minLength counts characters', { minLength: 2 }, ['ab', '😀😀', 5], ['a', '😀']],
    ['pattern is a search', { pattern: 'a+' }, ['xaax', 'a', 5], ['', 'b']],
    ['required', { required: ['a', '__proto__'] }, [JSON.parse('{"a":1,"__proto__":1}'), 1], [{ a: 1 }, {}]],
    ['not', { not: { type: 'string' } }, [1, null], ['x']],
    ['not twice', { not: { not: { type: 'string' } } }, ['x'], [1]],
    ['anyOf', { anyOf: [{ minimum: 3 }, { type: 'integer' }] }, [1, 3.5], [1.5]],
    ['oneOf', { oneOf: [{ minimum: 3 }, { type: 'integer' }] }, [1, 3.5], [4, 1.5]],
    ['allOf', { allOf: [{ minimum: 3 }, { maximum: 5 }] }, [4], [2, 6]],
    ['boolean schemas', { properties: { a: true, b: false } }, [{ a: 1 }, {}], [{ b: 1 }]],
    [
      'if then else',
      {
        if: { properties: { k: { const: 1 } }, required: ['k'] },
        then: { required: ['a'] },
        else: { required: ['b'] },
      },
      [{ k: 1, a: 1 }, { b: 1 }, { k: 2, b: 1 }],
      [{ k: 1 }, { k: 1, b: 1 }, {}],
    ],
    ['then without if', { then: false, else: false }, [1], []],
    [
      'patternProperties and additionalProperties',
      { properties: { a: {} }, patternProperties: { '^x': { type: 'number' } }, additionalProperties: false },
      [{ a: 1, x1: 2 }, {}],
      [{ x1: 'a' }, { b: 1 }],
    ],
    [
      'properties and patternProperties',
      { properties: { ab: { minimum: 2 } }, patternProperties: { a: { maximum: 3 } } },
      [{ ab: 2 }],
      [{ ab: 1 }, { ab: 4 }],
    ],
    ['propertyNames', { propertyNames: { maxLength: 2 } }, [{ ab: 1 }, {}], [{ abc: 1 }]],
    ['minProperties', { minProperties: 1, maxProperties: 2 }, [{ a: 1 }, []], [{}, { a: 1, b: 1, c: 1 }]],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }, [{ b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
    ['dependentSchemas', { dependentSchemas: { a: { minProperties: 2 } } }, [{ b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
    [
      'dependencies of draft 7',
      { dependencies: { a: ['b'], c: { minProperties: 2 }, d: false } },
      [
        { a: 1, b: 1 },
        { c: 1, x: 1 },
      ],
      [{ a: 1 }, { c: 1 }, { d: 1, e: 1 }],
    ],
    [
      'prefixItems and items',
      { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
      [['a', 1], [], 'x'],
      [[1], ['a', 'b']],
    ],
    ['items of draft 7', { items: [{ type: 'string' }], additionalItems: false }, [['a'], []], [['a', 1], [1]]],
    ['contains', { contains: { const: 1 } }, [[2, 1]], [[], [2]]],
    ['minContains 0', { contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
    [
      'minContains and maxContains',
      { contains: { const: 1 }, minContains: 2, maxContains: 2 },
      [[1, 1, 2]],
      [[1], [1, 1, 1]],
    ],
    [
      'uniqueItems',
      { uniqueItems: true },
      [[1, '1', true, null, [1], ['1'], { a: 1 }], []],
      [
        [1, 1.0],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
        [[0], [-0]],
      ],
    ],
    [
      'a recursive schema',
      { properties: { next: { $ref: '#' } }, additionalProperties: false },
      [{ next: { next: {} } }],
      [{ next: { nxt: 1 } }],
    ],
    ['a reference has siblings', { $ref: '#/$defs/a', maximum: 5, $defs: { a: { minimum: 2 } } }, [3], [1, 6]],
    [
      'escaped references',
      {
        allOf: [{ $ref: '#/$defs/a~1b' }, { $ref: '#/$defs/c%25d' }, { $ref: '#/$defs/e~0f' }],
        $defs: { 'a/b': { minimum: 1 }, 'c%d': { maximum: 9 }, 'e~f': { not: { const: 5 } } },
      },
      [3],
      [0, 10, 5],
    ],
    ['an anchor', { $ref: '#x', $defs: { a: { $anchor: 'x', type: 'string' } } }, ['a'], [1]],
    [
      'an embedded resource',
      {
        $id: 'https://example.com/root',
        $ref: 'item',
        $defs: { a: { $id: 'item', $ref: '#/$defs/b', $defs: { b: { type: 'string' } } }, b: { type: 'number' } },
      },
      ['a'],
      [1],
    ],
    [
      'a reference to a schema under an unknown keyword',
      { properties: { a: { $ref: '#/components/x' } }, components: { x: { type: 'string' } } },
      [{ a: '' }],
      [{ a: 1 }],
    ],
    [
      'a reference to a list',
      { properties: { a: { $ref: '#/allOf/0' } }, allOf: [{ type: 'object' }] },
      [{ a: {} }],
      [{ a: 1 }],
    ],
    ['an unknown format', { format: '__proto__' }, ['x'], []],
  ])('%s', (_, schema, valid, invalid) => {
    for (const value of valid) expect([value, fits(schema, value)]).toEqual([value, true])
    for (const value of invalid) expect([value, fits(schema, value)]).toEqual([value, false])
  })

  test.each<Case>([
    ['beside properties', { properties: { a: {} }, unevaluatedProperties: false }, [{ a: 1 }], [{ b: 1 }]],
    [
      'with a schema',
      { properties: { a: {} }, unevaluatedProperties: { type: 'string' } },
      [{ a: 1, b: '' }],
      [{ b: 1 }],
    ],
    ['through allOf', { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, [{ a: 1 }], [{ b: 1 }]],
    [
      'through a reference',
      { $ref: '#/$defs/x', unevaluatedProperties: false, $defs: { x: { properties: { a: {} } } } },
      [{ a: 1 }],
      [{ b: 1 }],
    ],
    [
      'through the branches of anyOf that hold',
      {
        anyOf: [
          { properties: { a: { const: 1 } }, required: ['a'] },
          { properties: { b: { const: 1 } }, required: ['b'] },
        ],
        unevaluatedProperties: false,
      },
      [{ a: 1 }, { a: 1, b: 1 }],
      [
        { a: 1, b: 2 },
        { a: 1, c: 1 },
      ],
    ],
    [
      'through the branch of oneOf that holds',
      {
        oneOf: [
          { properties: { a: { const: 1 } }, required: ['a'] },
          { properties: { b: { const: 1 } }, required: ['b'] },
        ],
        unevaluatedProperties: false,
      },
      [{ a: 1 }, { b: 1 }],
      [{ a: 1, b: 2 }],
    ],
    [
      'through if and then',
      {
        if: { properties: { a: { const: 1 } }, required: ['a'] },
        then: { properties: { b: {} } },
        else: { properties: { c: {} } },
        unevaluatedProperties: false,
      },
      [{ a: 1, b: 1 }, { c: 1 }],
      [{ a: 1, c: 1 }, { b: 1 }, { a: 2 }],
    ],
    ['not through not', { not: { not: { properties: { a: {} } } }, unevaluatedProperties: false }, [{}], [{ a: 1 }]],
    [
      'through dependentSchemas',
      { properties: { a: {} }, dependentSchemas: { a: { properties: { b: {} } } }, unevaluatedProperties: false },
      [{ a: 1, b: 1 }],
      [{ b: 1 }],
    ],
    ['through patterns', { patternProperties: { '^x': {} }, unevaluatedProperties: false }, [{ x: 1 }], [{ y: 1 }]],
    ['not into a cousin', { allOf: [{ properties: { a: {} } }, { unevaluatedProperties: false }] }, [{}], [{ a: 1 }]],
    [
      'nested, the outer sees what the inner let pass',
      { allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false },
      [{ a: 1 }],
      [],
    ],
    [
      'additionalProperties leaves nothing',
      { allOf: [{ additionalProperties: true }], unevaluatedProperties: false },
      [{ a: 1 }],
      [],
    ],
    [
      'of a part',
      { properties: { p: { properties: { a: {} } } }, unevaluatedProperties: false },
      [{ p: { b: 1 } }],
      [{ q: 1 }],
    ],
  ])('unevaluatedProperties: %s', (_, schema, valid, invalid) => {
    for (const value of valid) expect([value, fits(schema, value)]).toEqual([value, true])
    for (const value of invalid) expect([value, fits(schema, value)]).toEqual([value, false])
  })

  test.each<Case>([
    ['beside prefixItems', { prefixItems: [{}], unevaluatedItems: false }, [[1]], [[1, 2]]],
    ['beside items', { items: { type: 'number' }, unevaluatedItems: false }, [[1, 2]], [['a']]],
    [
      'beside contains',
      { prefixItems: [true], contains: { type: 'string' }, unevaluatedItems: false },
      [[1, 'a']],
      [[1, 2, 'a']],
    ],
    [
      'through contains in allOf',
      {
        allOf: [{ contains: { multipleOf: 2 } }, { contains: { multipleOf: 3 } }],
        unevaluatedItems: { multipleOf: 5 },
      },
      [[2, 3, 4, 5, 6]],
      [[2, 3, 4, 7, 8]],
    ],
    [
      'through anyOf',
      {
        prefixItems: [{ const: 1 }],
        anyOf: [{ prefixItems: [true, { const: 2 }] }, { prefixItems: [true, true, { const: 3 }] }],
        unevaluatedItems: false,
      },
      [
        [1, 2],
        [1, 2, 3],
      ],
      [
        [1, 2, 4],
        [1, 2, 3, 4],
      ],
    ],
    ['through items in allOf', { allOf: [{ items: true }], unevaluatedItems: false }, [[1, 2]], []],
    ['with a schema', { unevaluatedItems: { type: 'string' } }, [['a'], [], 5], [[1]]],
  ])('unevaluatedItems: %s', (_, schema, valid, invalid) => {
    for (const value of valid) expect([value, fits(schema, value)]).toEqual([value, true])
    for (const value of invalid) expect([value, fits(schema, value)]).toEqual([value, false])
  })
})

test('compileSchema() agrees with another JSON Schema validator on random schemas and values', {
  timeout: 60_000,
}, () => {
  const key = fc.constantFrom('a', 'b', 'ab')
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(0, 1, 2, 1.5, '', 'a', 'ab', '😀', true, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3 }),
    ),
  })).value
  const schema = fc.letrec<{ schema: unknown }>((tie) => {
    const one = tie('schema')
    const list = fc.array(one, { minLength: 1, maxLength: 3 })
    const map = fc.dictionary(key, one, { maxKeys: 2 })
    const count = fc.integer({ min: 0, max: 2 })
    return {
      schema: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.boolean(),
        fc.record(
          {
            type: fc.constantFrom('string', 'number', 'integer', 'object', 'array', ['null', 'boolean', 'string']),
            minimum: count,
            exclusiveMaximum: count,
            multipleOf: fc.constantFrom(1, 0.5, 2),
            minLength: count,
            pattern: fc.constantFrom('a', '^a$', 'b?$'),
            enum: fc.array(value, { minLength: 1, maxLength: 3 }),
            minItems: count,
            uniqueItems: fc.boolean(),
            minProperties: count,
          },
          { requiredKeys: [] },
        ),
        fc.record(
          {
            not: one,
            anyOf: list,
            oneOf: list,
            allOf: list,
            if: one,
            then: one,
            else: one,
            properties: map,
            patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), one, { maxKeys: 2 }),
            additionalProperties: one,
            propertyNames: one,
            required: fc.array(key, { maxLength: 2 }),
            dependentRequired: fc.dictionary(key, fc.array(key, { maxLength: 2 }), { maxKeys: 1 }),
            dependentSchemas: map,
            prefixItems: list,
            items: one,
            contains: one,
          },
          { requiredKeys: [] },
        ),
      ),
    }
  }).schema
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 3, maxLength: 3 }), (given, values) => {
      if (typeof given === 'boolean') return
      for (const one of values) {
        const expected = otherValidator(one, structuredClone(given) as CfSchema, '2020-12').valid
        expect([one, fits({ allOf: [given] }, one)]).toEqual([one, expected])
      }
    }),
    { numRuns: 200 },
  )
})
