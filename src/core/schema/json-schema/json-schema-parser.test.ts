import { describe, expect, test } from 'vitest'
import fc from '../../base/fast-check.test-kit.ts'
import { ToolwrightError } from '../../error/error.ts'
import { compileSchema } from '../compile.ts'
import { describeIssues, type ParseResult } from '../issues.ts'

const parse = (schema: object, value: unknown) => compileSchema(schema, 'Tool "t"').parse(value)
const TOO_MUCH = { issues: [{ path: '', expected: 'a value that takes less work to check against its schema' }] }
const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest })

describe('values that a JSON Schema rejects', () => {
  test('are described by what each keyword expects, without the value', () => {
    const schema = object(
      {
        mail: { type: 'string', format: 'email' },
        code: { type: 'string', pattern: '^a' },
        few: { type: 'array', maxItems: 1 },
        unique: { type: 'array', uniqueItems: true },
        low: { type: 'number', exclusiveMinimum: 5 },
        five: { multipleOf: 5 },
        no: false,
        not: { not: { type: 'string' } },
        has: { type: 'array', contains: { type: 'number' } },
        pair: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      },
      { additionalProperties: false },
    )
    const value = {
      mail: 'qqq',
      code: 'qqq',
      few: [1, 2],
      unique: ['qqq', 'qqq'],
      low: 5,
      five: 3,
      no: 'qqq',
      not: 'qqq',
      has: ['qqq'],
      pair: [1, 'qqq'],
      extra: 'qqq',
    }
    const parsed = parse(schema, value)
    expect(parsed).toEqual({
      issues: [
        { path: 'mail', expected: 'valid email' },
        { path: 'code', expected: 'text that matches /^a/' },
        { path: 'few', expected: 'array of at most 1 items' },
        { path: 'unique', expected: 'array without duplicates' },
        { path: 'low', expected: 'number more than 5' },
        { path: 'five', expected: 'multiple of 5' },
        { path: 'no', expected: 'no such property' },
        { path: 'not', expected: 'a value that does not match "not"' },
        { path: 'has', expected: 'array with the required number of items that match "contains"' },
        { path: 'pair[0]', expected: 'string' },
        { path: 'pair[1]', expected: 'no such item' },
        { path: 'extra', expected: 'no such property' },
      ],
    })
    expect(JSON.stringify(parsed)).not.toContain('qqq')
  })

  test('list every missing property, also through references', () => {
    const schema = object(
      { to: { $ref: '#/$defs/to' } },
      {
        required: ['to', 'toString', 'a~/b'],
        $defs: { to: object({}, { required: ['street', '__proto__'] }) },
      },
    )
    expect(parse(schema, { to: {} })).toEqual({
      issues: [
        { path: 'toString', expected: 'a value (required)' },
        { path: '["a~/b"]', expected: 'a value (required)' },
        { path: 'to.street', expected: 'a value (required)' },
        { path: 'to.__proto__', expected: 'a value (required)' },
      ],
    })
  })

  test('are described by all alternatives, or only by the meant branch of a tagged union', () => {
    const schema = object({
      id: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      shape: {
        oneOf: [
          object({ t: { const: 'circle' }, r: { type: 'number' } }, { required: ['t', 'r'] }),
          object({ t: { const: 'square' }, side: { type: 'number' } }, { required: ['t', 'side'] }),
        ],
      },
    })
    expect(parse(schema, { id: true, shape: { t: 'square' } })).toEqual({
      issues: [
        { path: 'id', expected: 'string or number' },
        { path: 'shape.side', expected: 'a value (required)' },
      ],
    })
    expect(parse(schema, { shape: { t: 'zzz', side: 'x' } })).toEqual({
      issues: [{ path: 'shape.t', expected: '"circle" or "square"' }],
    })
    const both = object({ n: { oneOf: [{ type: 'number' }, { minimum: 1 }] } })
    expect(parse(both, { n: 5 })).toEqual({ issues: [{ path: 'n', expected: 'exactly one of the allowed shapes' }] })
  })

  test('are an issue if JSON cannot hold them', () => {
    expect(parse(object({}), { f: () => 1 })).toHaveProperty('value')
    expect(parse(object({ f: { type: 'string' } }), { f: () => 1 })).toHaveProperty('issues')
    expect(parse(object({ f: { type: 'string' } }), { '\ud800': 1, f: 5 })).toHaveProperty('issues')
    expect(
      parse(
        { type: 'object' },
        {
          get f() {
            throw new Error('x')
          },
        },
      ),
    ).toHaveProperty('issues')
    expect(parse(object({}), new Array(5000).fill(1))).toHaveProperty('issues')
  })

  test('are rejected in bounded time by alternatives that refer to themselves', { timeout: 30_000 }, () => {
    const branch = (op: string) => object({ of: { $ref: '#' }, op: { const: op } }, { required: ['op'] })
    const schema = { type: 'object', anyOf: [branch('not'), branch('maybe')] }
    const nested = (levels: number): object =>
      levels === 0 ? { op: 'maybe' } : { of: nested(levels - 1), op: 'maybe' }
    expect(parse(schema, nested(5))).toHaveProperty('value')
    expect(parse(schema, nested(100))).toEqual(TOO_MUCH)
    expect(parse(schema, nested(100))).toEqual(TOO_MUCH)
    expect(parse(schema, nested(5))).toHaveProperty('value')
    const $defs: { [name: string]: object } = { d60: object({ a: { default: 1 } }) }
    for (let i = 0; i < 60; i++)
      $defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }
    expect(compileSchema({ $ref: '#/$defs/d0', $defs }, 'Tool "t"', { object: true }).parse({})).toEqual(TOO_MUCH)
  })

  test('are long lists of unique items with one duplicate', { timeout: 30_000 }, () => {
    const schema = object({ list: { type: 'array', uniqueItems: true } })
    const list = Array.from({ length: 50_000 }, (_, i) => ({ i }))
    expect(parse(schema, { list })).toHaveProperty('value')
    expect(parse(schema, { list: [...list, { i: 7 }] })).toEqual({
      issues: [{ path: 'list', expected: 'array without duplicates' }],
    })
  })

  // Each would take minutes or hours: the timeout only guards against that.
  describe('are rejected when a large value takes too much work with a large schema,', { timeout: 30_000 }, () => {
    const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
    let tree: object = {}
    for (let i = 0; i < 10; i++) tree = { allOf: [tree, structuredClone(tree)] }
    const rows = times(20_000, () => ({ a: 1, b: 'x' }))
    const wide = Object.fromEntries(times(60_000, (i) => [`a${i}`, 1]))
    let deep: object = {}
    for (let i = 0; i < 150; i++) deep = { a: deep }
    const chain: { [name: string]: object } = { d250: { properties: { a: { $ref: '#/$defs/d0' } } } }
    for (let i = 0; i < 250; i++) chain[`d${i}`] = { $ref: `#/$defs/d${i + 1}` }

    test.each<[string, object, unknown]>([
      ['allOf', { items: tree }, rows],
      ['oneOf', { items: { oneOf: times(4_000, (i) => ({ const: i })) } }, times(20_000, (i) => i % 4_000)],
      ['not', { items: { allOf: times(2_000, () => ({ not: { type: 'null' } })) } }, rows],
      ['if', { items: { allOf: times(1_000, () => ({ if: { type: 'object' } })) } }, rows],
      ['uniqueItems', { allOf: times(4_000, () => ({ uniqueItems: true })) }, rows.map((row, i) => ({ ...row, i }))],
      ['enum', { allOf: times(4_000, () => ({ enum: [[1]] })) }, rows],
      ['const', { allOf: times(4_000, () => ({ const: [1] })) }, rows],
      ['contains', { allOf: times(2_000, () => ({ contains: { type: 'object' } })) }, rows],
      ['required', { items: { required: times(20_000, () => 'a') } }, rows],
      ['properties', { items: { properties: Object.fromEntries(times(4_000, (i) => [`p${i}`, {}])) } }, rows],
      ['patternProperties', { patternProperties: Object.fromEntries(times(1_000, (i) => [`(a|a)*b${i}`, {}])) }, wide],
      ['propertyNames', { allOf: times(2_000, () => ({ propertyNames: { maxLength: 9 } })) }, wide],
      ['dependentSchemas', { items: { dependentSchemas: { a: tree } } }, rows],
      [
        'unevaluatedProperties',
        { anyOf: times(2_000, () => ({ patternProperties: { a: {} } })), unevaluatedProperties: false },
        wide,
      ],
      ['unevaluatedItems', { anyOf: times(2_000, () => ({ contains: {} })), unevaluatedItems: false }, rows],
      ['format', { allOf: times(4_000, () => ({ format: 'uri' })) }, `http://a/${'b'.repeat(1_000_000)}`],
      ['maxLength', { allOf: times(4_000, () => ({ maxLength: 1_000_000 })) }, 'é'.repeat(1_000_001)],
      ['pattern', { allOf: times(4_000, () => ({ pattern: '^[ab]*$' })) }, 'ab'.repeat(40_000)],
      ['multipleOf', { items: { allOf: times(4_000, () => ({ multipleOf: 1e-300 })) } }, times(20_000, () => 1.5e308)],
      ['references', { $ref: '#/$defs/d0', $defs: chain }, deep],
      ['defaults', { items: { properties: { z: { default: times(1_000, () => 0) } } } }, rows],
    ])('with %s', (_, schema, value) => {
      const { parse } = compileSchema({ ...schema, type: ['array', 'object', 'string'] }, 'Tool "t"')
      expect(parse(value)).toHaveProperty('issues')
    })

    test('but a large value is accepted by an ordinary schema', () => {
      const row = object(
        { a: { type: 'integer', minimum: 0 }, b: { anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] } },
        { required: ['a'], additionalProperties: false },
      )
      expect(
        parse(
          { type: 'array', items: row },
          times(60_000, (i) => ({ a: i, b: 'x' })),
        ),
      ).toHaveProperty('value')
      expect(parse({ type: 'string', format: 'uri' }, `data:,${'b'.repeat(5_000_000)}`)).toHaveProperty('value')
      expect(parse({ properties: { a: { $ref: '#' } } }, deep)).toHaveProperty('value')
    })
  })

  test('have a short description even with very many issues', { timeout: 30_000 }, () => {
    const value = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key${i}`, i]))
    const choices = Array.from({ length: 5_000 }, (_, i) => `choice ${i}`)
    for (const schema of [
      object({}, { additionalProperties: false }),
      object({}, { additionalProperties: { enum: choices } }),
      object({}, { additionalProperties: { anyOf: choices.slice(0, 100).map((text) => ({ const: text })) } }),
      object({}, { required: choices }),
      object({}, { additionalProperties: { const: 'x'.repeat(100_000) } }),
    ]) {
      const { issues = [] } = parse(schema, value) as ParseResult
      expect(issues.length).toBeGreaterThan(0)
      expect(JSON.stringify(issues).length).toBeLessThan(500_000)
      expect(describeIssues(issues).length).toBeLessThan(5_000)
    }
  })
})

describe('defaults of a JSON Schema', () => {
  test('are copied into nested objects, lists and references', () => {
    const schema = object(
      {
        a: { $ref: '#/$defs/part' },
        list: { type: 'array', items: { $ref: '#/$defs/part' } },
        tags: { type: 'array', default: [] },
        toString: { default: 'own' },
      },
      { $defs: { part: object({ n: { type: 'number', default: 1 } }) } },
    )
    const input = { a: {}, list: [{}, { n: 2 }] }
    const { value } = parse(schema, input) as { value: { tags: unknown[] } }
    expect(value).toEqual({ a: { n: 1 }, list: [{ n: 1 }, { n: 2 }], tags: [], toString: 'own' })
    expect(input).toEqual({ a: {}, list: [{}, { n: 2 }] })
    value.tags.push('changed')
    expect(parse(schema, {})).toMatchObject({ value: { tags: [] } })
  })

  test('are filled in only once for a recursive schema', () => {
    const schema = object({ child: { $ref: '#', default: {} } })
    expect(parse(schema, { child: { child: {} } })).toEqual({ value: { child: { child: { child: {} } } } })
  })

  test('are reported if they do not fit the schema', () => {
    expect(parse(object({ n: { type: 'number', default: 'x' } }), {})).toEqual({
      issues: [{ path: 'n', expected: 'number' }],
    })
  })
})

describe('compileSchema() refuses an invalid JSON Schema when the tool is built', () => {
  const cyclic: { [key: string]: unknown } = { type: 'object' }
  cyclic.properties = { self: cyclic }
  let deep: object = { type: 'string' }
  for (let i = 0; i < 10_000; i++) deep = object({ a: deep })
  let hundred: object = { type: 'string' }
  for (let i = 0; i < 100; i++) hundred = object({ a: hundred })
  const many = object(Object.fromEntries(Array.from({ length: 5_001 }, (_, i) => [`p${i}`, {}])))
  test.each<[string, object, RegExp]>([
    ['an unknown type', object({ a: { type: 'strin' } }), /#\/properties\/a\/type/],
    ['a type that is not a string', { type: 5 }, /#\/type/],
    ['a property that is not a schema', object({ a: 'string' }), /#\/properties\/a /],
    ['required that is not a list', { type: 'object', required: true }, /#\/required/],
    ['an enum that is not a list', object({ a: { enum: 'x' } }), /#\/properties\/a\/enum/],
    ['a minimum that is not a number', object({ a: { minimum: '3' } }), /#\/properties\/a\/minimum/],
    ['a negative minLength', object({ a: { minLength: -1 } }), /minLength/],
    ['an invalid pattern', object({ a: { pattern: '(' } }), /#\/properties\/a\/pattern.*regular expression/],
    [
      'an invalid pattern in patternProperties',
      { type: 'object', patternProperties: { '[': {} } },
      /patternProperties/,
    ],
    ['an empty anyOf', object({ a: { anyOf: [] } }), /anyOf/],
    ['a reference without a target', object({ a: { $ref: '#/$defs/none' } }), /\$ref.*#\/\$defs\/none/],
    ['a reference with a second fragment', object({ a: { $ref: '#/$defs/a#b' } }, { $defs: { a: {} } }), /\$ref/],
    [
      'two different schemas with one anchor',
      object({}, { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x', type: 'string' } } }),
      /two different schemas/,
    ],
    ['an invalid schema under an unknown keyword', object({ a: { $ref: '#/x' } }, { x: { type: 'strin' } }), /type/],
    ['a reference to an inherited name', object({ a: { $ref: '#/constructor' } }), /\$ref/],
    ['a remote reference', object({ a: { $ref: 'https://example.com/s.json' } }), /example\.com/],
    ['a reference to itself', { type: 'object', $ref: '#' }, /leads back to itself/],
    [
      'a cycle of references',
      object({}, { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#' }] } } }),
      /leads back/,
    ],
    ['a dynamic reference', object({ a: { $dynamicRef: '#x' } }), /\$dynamicRef/],
    ['an object that contains itself', cyclic, /contains itself/],
    ['10,000 levels of nesting', deep, /64 levels/],
    ['100 levels of nesting', hundred, /64 levels/],
    ['5,001 subschemas', many, /5000 parts/],
    [
      'an enum of 25 million numbers',
      object({ a: { enum: new Array(5_000).fill(new Array(5_000).fill(1)) } }),
      /256 kB/,
    ],
    ['a description of 300 kB', object({ a: { description: 'x'.repeat(300_000) } }), /256 kB/],
    ['a default that JSON cannot hold', object({ a: { default: 5n } }), /JSON/],
    ['a list instead of a schema', [], /object/],
    ['parameters that are not an object', { type: 'string' }, /object schema/],
    ['parameters that may be anything', {}, /object schema/],
  ])('%s', (_, schema, message) => {
    let thrown: unknown
    try {
      compileSchema(schema, 'Tool "pay"', { object: true })
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ToolwrightError)
    expect(thrown).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringMatching(message) })
    expect((thrown as Error).message).toContain('Tool "pay"')
  })

  test('but accepts frozen, recursive, shared and draft 7 schemas, anchors, and properties named like keywords', () => {
    const shared = Object.freeze({ type: 'string' })
    const schema = Object.freeze({
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...object(
        {
          a: shared,
          b: shared,
          type: shared,
          $ref: shared,
          $schema: shared,
          required: shared,
          children: { type: 'array', items: { $ref: '#' } },
          d: { $ref: '#/definitions/d' },
          e: { $ref: '#named' },
        },
        { definitions: { d: { $anchor: 'named', type: 'number' } } },
      ),
    })
    const { jsonSchema, parse } = compileSchema(schema, 'Tool "t"', { object: true })
    expect(jsonSchema).toMatchObject({ properties: { $schema: { type: 'string' }, type: { type: 'string' } } })
    expect(parse({ a: 'x', $schema: 'y', children: [{ d: 1 }], e: 2 })).toHaveProperty('value')
    expect(parse({ children: [{ d: 'x' }] })).toEqual({ issues: [{ path: 'children[0].d', expected: 'number' }] })
  })

  test('and adds type: "object" to properties without a type', () => {
    expect(compileSchema({ properties: {} }, 'Tool "t"', { object: true }).jsonSchema).toEqual({
      type: 'object',
      properties: {},
    })
  })
})

test('compileSchema() refuses any value passed as a schema or returns a parser that never throws', () => {
  const keyword = fc.constantFrom(
    ...'type properties required items enum const anyOf oneOf allOf not if then $ref $defs default pattern format'.split(
      ' ',
    ),
    ...'minimum maxLength additionalProperties propertyNames contains uniqueItems __proto__ $id $anchor'.split(' '),
  )
  const leaf = fc.oneof(
    fc.constantFrom('object', 'string', '#', '#/$defs/a', '#/properties/a', 'email', '^a'),
    fc.string(),
    fc.integer({ min: -3, max: 9 }),
    fc.boolean(),
    fc.constant(null),
  )
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      leaf,
      fc.array(tie('schema'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(keyword, fc.constantFrom('a', 'b', 'toString')), tie('schema'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(schema, fc.jsonValue(), (given, value) => {
      let check: (value: unknown) => unknown
      try {
        check = compileSchema(given, 'Tool "t"').parse
      } catch (error) {
        expect(error).toBeInstanceOf(ToolwrightError)
        return
      }
      const parsed = check(value) as object
      expect('value' in parsed || 'issues' in parsed).toBe(true)
    }),
    { numRuns: 1_000 },
  )
  expect(({} as { a?: unknown }).a).toBeUndefined()
})
