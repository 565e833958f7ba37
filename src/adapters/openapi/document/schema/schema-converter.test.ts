// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../core/base/json.ts'
import { accepts, api, fits, loadBody, loadOne } from '../document.test-kit.ts'

/** The body schema of an OpenAPI 3.0 document. */
const loadBody30 = (schema: unknown, rest: JsonObject = {}) => loadBody(schema, { openapi: '3.0.3', ...rest })

async function expectBodies(
  operation: ReturnType<typeof loadBody>,
  { valid, invalid }: { valid: unknown[]; invalid: unknown[] },
): Promise<void> {
  const loaded = await operation
  for (const body of valid) expect([body, accepts(loaded, { body })]).toEqual([body, true])
  for (const body of invalid) expect([body, accepts(loaded, { body })]).toEqual([body, false])
}

describe('dialects of schemas', () => {
  test('nullable allows null beside the type, an enum and a reference', async () => {
    const components = { schemas: { Name: { type: 'string', minLength: 2 } } }
    const $ref = '#/components/schemas/Name'
    await expectBodies(loadBody30({ type: 'string', nullable: true }), { valid: ['a', null], invalid: [1] })
    await expectBodies(loadBody30({ type: 'string', enum: ['a'], nullable: true }), {
      valid: ['a', null],
      invalid: ['b'],
    })
    await expectBodies(loadBody30({ $ref, nullable: true }, { components }), { valid: ['ab', null], invalid: ['a', 1] })
    await expectBodies(loadBody30({ allOf: [{ $ref }], nullable: true }, { components }), {
      valid: ['ab', null],
      invalid: ['a'],
    })
    await expectBodies(loadBody30({ type: 'string', nullable: false }), { valid: ['a'], invalid: [null] })
  })

  test('boolean and numeric exclusive bounds hold', async () => {
    const bounds = { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false }
    await expectBodies(loadBody30(bounds), { valid: [1.1, 3], invalid: [1, 3.1] })
    await expectBodies(loadBody({ exclusiveMinimum: 1, exclusiveMaximum: 3 }), { valid: [2], invalid: [1, 3] })
  })

  test('const, type lists, formats, conditions and tuples hold', async () => {
    await expectBodies(loadBody({ const: 'a' }), { valid: ['a'], invalid: ['b'] })
    await expectBodies(loadBody({ type: ['string', 'null'], format: 'email' }), {
      valid: ['a@b.example', null],
      invalid: ['a', 1],
    })
    await expectBodies(loadBody({ if: { type: 'string' }, then: { minLength: 2 }, else: { type: 'integer' } }), {
      valid: ['ab', 1],
      invalid: ['a', true],
    })
    await expectBodies(loadBody({ type: 'array', items: [{ type: 'string' }], additionalItems: false }), {
      valid: [['a'], []],
      invalid: [[1], ['a', 1]],
    })
    await expectBodies(
      loadBody({ type: 'object', patternProperties: { '^x': { type: 'string' } }, additionalProperties: false }),
      {
        valid: [{ x1: 'a' }],
        invalid: [{ x1: 1 }, { y: 'a' }],
      },
    )
    await expectBodies(
      loadBody({
        type: 'object',
        dependentRequired: { a: ['b'] },
        dependentSchemas: { c: { required: ['d'] } },
        propertyNames: { maxLength: 1 },
        not: { required: ['z'] },
      }),
      {
        valid: [
          { a: 1, b: 2 },
          { c: 1, d: 1 },
        ],
        invalid: [{ a: 1 }, { c: 1 }, { long: 1 }, { z: 1 }],
      },
    )
  })

  test('before 3.1, keywords beside a reference are ignored; since 3.1, they apply', async () => {
    const components = { schemas: { Name: { type: 'string' } } }
    const schema = { $ref: '#/components/schemas/Name', maxLength: 1 }
    await expectBodies(loadBody30(schema, { components }), { valid: ['long'], invalid: [1] })
    await expectBodies(loadBody(schema, { components }), { valid: ['a'], invalid: ['long', 1] })
  })

  test('drops what is not JSON Schema and what servers apply themselves', async () => {
    const { argumentsSchema } = await loadBody({
      type: 'object',
      xml: { name: 'x' },
      externalDocs: { url: 'x' },
      'x-internal': true,
      example: { a: 1 },
      examples: [{ a: 1 }],
      $comment: 'x',
      properties: { private: { type: 'boolean', default: false, description: 'Hidden?' } },
    })
    expect(argumentsSchema).toEqual({
      type: 'object',
      properties: { private: { type: 'boolean', description: 'Hidden? Default: false.' } },
      additionalProperties: false,
    })
  })

  test('a default is never filled in: a partial update would overwrite what is stored', async () => {
    const operation = await loadBody({ type: 'object', properties: { private: { type: 'boolean', default: false } } })
    expect(fits(operation.argumentsSchema, {})).toBe(true)
    expect(JSON.stringify(operation.argumentsSchema)).not.toContain('"default"')
  })
})

describe('read-only and write-only properties', () => {
  const components = {
    schemas: {
      Id: { type: 'string', readOnly: true },
      Base: { type: 'object', properties: { id: { $ref: '#/components/schemas/Id' } }, required: ['id'] },
      Pet: {
        allOf: [{ $ref: '#/components/schemas/Base' }, { type: 'object', properties: { name: { type: 'string' } } }],
        properties: { password: { type: 'string', writeOnly: true } },
        required: ['id', 'password'],
      },
    },
  }
  const schema = { $ref: '#/components/schemas/Pet' }

  test('are left out of requests and responses, also where another schema requires them', async () => {
    const content = { 'application/json': { schema } }
    const operation = await loadOne(
      api({ '/pets': { post: { requestBody: { content }, responses: { 200: { content } } } } }, { components }),
    )
    expect(accepts(operation, { body: { name: 'Rex', password: 'x' } })).toBe(true)
    expect(accepts(operation, { body: { name: 'Rex' } })).toBe(false)
    expect(JSON.stringify(operation.argumentsSchema)).not.toContain('"id"')
    expect(fits(operation.responseSchema, { id: '1' })).toBe(true)
    expect(fits(operation.responseSchema, { name: 'Rex' })).toBe(false)
    expect(JSON.stringify(operation.responseSchema)).not.toContain('password')
  })
})

describe('discriminators', () => {
  const animal = (name: string) => ({
    type: 'object',
    properties: { kind: { type: 'string' }, [name]: { type: 'integer' } },
  })
  const components = { schemas: { Cat: animal('lives'), Dog: animal('age') } }
  const oneOf = [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }]

  test('select the alternative by the mapped name', async () => {
    const discriminator = { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat', dog: 'Dog' } }
    await expectBodies(loadBody({ oneOf, discriminator }, { components }), {
      valid: [
        { kind: 'cat', lives: 9 },
        { kind: 'dog', age: 1 },
      ],
      invalid: [{ kind: 'cat', lives: 'x' }, { kind: 'dog', age: 'x' }, { kind: 'Cat' }, { lives: 9 }],
    })
  })

  test('select the alternative by the name of its schema without a mapping', async () => {
    await expectBodies(loadBody({ oneOf, discriminator: { propertyName: 'kind' } }, { components }), {
      valid: [{ kind: 'Cat', lives: 9 }],
      invalid: [{ kind: 'cat' }, { kind: 'Dog', age: 'x' }],
    })
  })

  test('add nothing to alternatives that name their own value, or with a default', async () => {
    const named = (value: string) => ({ type: 'object', properties: { kind: { const: value } }, required: ['kind'] })
    const own = { schemas: { Cat: named('c'), Dog: named('d') } }
    await expectBodies(loadBody({ oneOf, discriminator: { propertyName: 'kind' } }, { components: own }), {
      valid: [{ kind: 'c' }],
      invalid: [{ kind: 'Cat' }],
    })
    const discriminator = { propertyName: 'kind', defaultMapping: 'Dog' }
    await expectBodies(loadBody({ anyOf: oneOf, discriminator }, { components }), { valid: [{}], invalid: [1] })
  })
})

describe('inheritance', () => {
  const $ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const schemas = {
    Pet: {
      type: 'object',
      properties: { kind: { type: 'string' }, name: { type: 'string' } },
      required: ['kind'],
      discriminator: { propertyName: 'kind' },
      oneOf: [$ref('Cat'), $ref('Dog')],
    },
    Cat: { allOf: [$ref('Pet'), { properties: { lives: { type: 'integer' } } }] },
    Dog: { allOf: [$ref('Pet'), { properties: { age: { type: 'integer' } } }] },
  }

  test('a schema whose alternatives consist of it holds for every alternative', async () => {
    await expectBodies(loadBody($ref('Pet'), { components: { schemas } }), {
      valid: [
        { kind: 'Cat', lives: 9 },
        { kind: 'Dog', age: 1 },
      ],
      invalid: [{ kind: 'Cat', lives: 'x' }, { kind: 'Cat', name: 5 }, { kind: 'Bird' }, {}],
    })
    await expectBodies(loadBody($ref('Dog'), { components: { schemas } }), {
      valid: [{ kind: 'Dog', age: 1 }],
      invalid: [{ kind: 'Dog', age: 'x' }, { kind: 'Dog', name: 5 }, {}],
    })
  })

  test('holds over several levels', async () => {
    const Dog = { ...schemas.Dog, oneOf: [$ref('Poodle')] }
    const Poodle = { allOf: [$ref('Dog'), { required: ['age'] }] }
    await expectBodies(loadBody($ref('Poodle'), { components: { schemas: { ...schemas, Dog, Poodle } } }), {
      valid: [{ kind: 'Dog', age: 1 }],
      invalid: [{ kind: 'Dog' }, { kind: 'Dog', age: 'x' }, { age: 1 }],
    })
  })

  test('alternatives that only refer to each other still take their operations away', async () => {
    const circle = { A: { oneOf: [$ref('B')] }, B: { oneOf: [$ref('A')] } }
    await expect(loadBody($ref('A'), { components: { schemas: circle } })).rejects.toThrow('refers to itself')
  })
})

describe('definitions', () => {
  const components = {
    schemas: {
      Node: {
        type: 'object',
        properties: { next: { $ref: '#/components/schemas/Node' }, value: { $ref: '#/components/schemas/Value' } },
      },
      Value: { type: 'integer' },
      Unused: { type: 'string' },
    },
  }

  test('cycles stay references, and an operation carries only what it reaches', async () => {
    const operation = await loadBody({ $ref: '#/components/schemas/Node' }, { components })
    expect(Object.keys(operation.argumentsSchema.$defs as object)).toEqual(['Node', 'Value'])
    expect(accepts(operation, { body: { next: { next: { value: 1 } } } })).toBe(true)
    expect(accepts(operation, { body: { next: { next: { value: 'x' } } } })).toBe(false)
  })

  test('components with names that clash or that references cannot hold keep apart', async () => {
    const schemas = {
      'a b': { type: 'integer' },
      'a/b': { type: 'string' },
      a_b: { type: 'boolean' },
      ['__proto__']: { type: 'null' },
    }
    const document = { components: { schemas: JSON.parse(JSON.stringify(schemas)) } }
    const part = (key: string) => ({ $ref: `#/components/schemas/${key}` })
    await expectBodies(
      loadBody({ type: 'array', prefixItems: [part('a%20b'), part('a~1b'), part('a_b'), part('__proto__')] }, document),
      {
        valid: [[1, 'x', true, null]],
        invalid: [
          ['x', 'x', true, null],
          [1, 1, true, null],
          [1, 'x', 1, null],
          [1, 'x', true, 1],
        ],
      },
    )
  })

  test('a property called __proto__ or constructor is an ordinary property', async () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"integer"}}}',
    )
    await expectBodies(loadBody(schema), {
      valid: [JSON.parse('{"__proto__":1}'), { constructor: 1 }, {}],
      invalid: [JSON.parse('{"__proto__":"x"}'), { constructor: 'x' }],
    })
  })

  test('a schema that refers to itself for the same value takes only its operations away', async () => {
    const schemas = { A: { allOf: [{ $ref: '#/components/schemas/A' }] } }
    await expect(loadBody({ $ref: '#/components/schemas/A' }, { components: { schemas } })).rejects.toThrow(
      'schema "A" refers to itself for the same value',
    )
  })
})

describe('constraints that cannot be used', () => {
  test('a pattern with a back-reference is left out, described and noted, and the rest holds', async () => {
    const operation = await loadBody({ type: 'string', pattern: '^(a)\\1$', maxLength: 3 })
    expect(accepts(operation, { body: 'abc' })).toBe(true)
    expect(accepts(operation, { body: 'abcd' })).toBe(false)
    expect(JSON.stringify(operation.argumentsSchema)).toContain('Pattern: ^(a)')
    expect(operation.problems).toEqual([
      expect.stringMatching(/^POST \/pets, body at "\/pattern": a constraint is left out: the pattern/),
    ])
  })

  test('an alternative or a condition without its pattern does not refuse valid values', async () => {
    const pattern = '^(a)\\1$'
    await expectBodies(
      loadBody({
        oneOf: [
          { type: 'string', pattern },
          { type: 'string', maxLength: 5 },
        ],
      }),
      { valid: ['abc'], invalid: [1] },
    )
    await expectBodies(loadBody({ type: 'string', not: { pattern } }), { valid: ['abc'], invalid: [1] })
    await expectBodies(loadBody({ type: 'string', if: { pattern }, then: { maxLength: 1 } }), {
      valid: ['abc'],
      invalid: [1],
    })
    const schema = {
      type: 'object',
      patternProperties: { [pattern]: { type: 'integer' } },
      additionalProperties: false,
    }
    await expectBodies(loadBody(schema), { valid: [{ aa: 1 }], invalid: [1] })
  })

  test('what follows a condition still holds without its pattern', async () => {
    const pattern = '^(a)\\1$'
    const schema = {
      not: { pattern },
      if: { type: 'string' },
      then: { maxLength: 3, pattern },
      else: { type: 'integer' },
    }
    await expectBodies(loadBody(schema), { valid: ['abc', 1], invalid: ['abcd', true] })
  })

  test('values that JSON cannot hold are noted and left out', async () => {
    const operation = await loadBody({
      type: 'string',
      enum: [new Date(0)],
      const: 5n,
      maximum: Number.NaN,
      maxLength: 3,
    })
    expect(operation.problems).toHaveLength(3)
    expect(accepts(operation, { body: 'abc' })).toBe(true)
    expect(accepts(operation, { body: 'abcd' })).toBe(false)
  })

  test('patterns with needless escapes or slashes hold', async () => {
    await expectBodies(loadBody({ type: 'string', pattern: '^[a-z\\_]+\\-\\:\\d$' }), {
      valid: ['a_b-:1'],
      invalid: ['A-:1', 'a-:x'],
    })
    await expectBodies(loadBody({ type: 'string', pattern: '/^[a-z]+$/' }), { valid: ['abc'], invalid: ['ABC'] })
  })

  test('keywords with wrong values are noted and left out', async () => {
    const operation = await loadBody({
      type: 'objekt',
      minLength: 'x',
      enum: [],
      required: true,
      oneOf: [],
      properties: null,
      items: 'x',
      maximum: 1,
    })
    expect(operation.problems).toHaveLength(7)
    expect(accepts(operation, { body: 1 })).toBe(true)
    expect(accepts(operation, { body: 2 })).toBe(false)
  })

  test.each([
    ['deeper than 60 levels', nest(70)],
    [
      'more than 5000 parts',
      { type: 'object', properties: Object.fromEntries(Array.from({ length: 5_001 }, (_, i) => [`p${i}`, {}])) },
    ],
    ['larger than 256000 bytes', { enum: Array.from({ length: 30_000 }, (_, i) => `value ${i}`) }],
    ['"$dynamicRef"', { $dynamicRef: '#node' }],
  ])('a schema that is %s leaves its operation out', async (problem, schema) => {
    await expect(loadBody(schema)).rejects.toThrow(problem)
  })
})

function nest(levels: number): JsonObject {
  return levels === 0 ? {} : { type: 'array', items: nest(levels - 1) }
}
