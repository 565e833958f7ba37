import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { compileSchema } from '../compile.ts'
import type { Schema } from '../schema-types.ts'

const compile = (schema: Schema) => compileSchema(schema, 'Tool "t"', { object: true })
const fits = (schema: Schema, value: unknown) => !('issues' in Object(compile(schema).parse(value)))
const of = (part: object, more: object = {}): Schema => ({ type: 'object', properties: { part }, ...more })

describe('nullable: true of OpenAPI 3.0 accepts null', () => {
  const $defs = { pet: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } }
  const cases: [string, Schema, unknown, unknown, object][] = [
    ['type', of({ type: 'string', nullable: true }), 'a', 5, { type: ['string', 'null'] }],
    ['several types', of({ type: ['string', 'null'], nullable: true }), 'a', 5, { type: ['string', 'null'] }],
    [
      'enum',
      of({ type: 'string', enum: ['a'], nullable: true }),
      'a',
      'b',
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    ['bounds', of({ type: 'string', minLength: 2, nullable: true }), 'ab', 'a', { minLength: 2 }],
    [
      '$ref',
      of({ $ref: '#/$defs/pet', nullable: true, description: 'A pet' }, { $defs }),
      { name: 'x' },
      {},
      { description: 'A pet', anyOf: [{ $ref: '#/$defs/pet' }, { type: 'null' }] },
    ],
    [
      'allOf',
      of({ allOf: [{ $ref: '#/$defs/pet' }], nullable: true, default: null }, { $defs }),
      { name: 'x' },
      {},
      { default: null, anyOf: [{ allOf: [{ $ref: '#/$defs/pet' }] }, { type: 'null' }] },
    ],
    ['const', of({ const: 'a', nullable: true }), 'a', 'b', { anyOf: [{ const: 'a' }, { type: 'null' }] }],
  ]
  test.each(cases)('%s', (_, schema, good, bad, shown) => {
    expect(fits(schema, { part: null })).toBe(true)
    expect(fits(schema, { part: good })).toBe(true)
    expect(fits(schema, { part: bad })).toBe(false)
    const { jsonSchema } = compile(schema)
    expect(jsonSchema).toMatchObject({ properties: { part: shown } })
    expect(JSON.stringify(jsonSchema)).not.toContain('nullable')
  })

  test('but nullable: false changes nothing, a property may be named nullable, and other values are refused', () => {
    expect(fits(of({ type: 'string', nullable: false }), { part: null })).toBe(false)
    expect(fits({ type: 'object', properties: { nullable: { type: 'boolean' } } }, { nullable: 'x' })).toBe(false)
    expect(() => compile(of({ type: 'string', nullable: 'yes' }))).toThrow('nullable')
  })
})

describe('defaults inside defaults of a JSON Schema', () => {
  const address = {
    type: 'object',
    properties: {
      country: { type: 'string', default: 'NO' },
      geo: { type: 'object', default: {}, properties: { zoom: { default: 3 } } },
    },
  }
  test('complete a default object with the defaults of its properties', () => {
    const { parse } = compile({ type: 'object', properties: { address: { ...address, default: { street: 'x' } } } })
    expect(parse({})).toEqual({ value: { address: { street: 'x', country: 'NO', geo: { zoom: 3 } } } })
    expect(parse({ address: { country: 'SE' } })).toEqual({ value: { address: { country: 'SE', geo: { zoom: 3 } } } })
  })
  test('apply through references and lists', () => {
    const schema = {
      type: 'object',
      properties: { list: { default: [{}], type: 'array', items: { $ref: '#/$defs/address' } } },
      $defs: { address },
    }
    expect(compile(schema).parse({})).toEqual({ value: { list: [{ country: 'NO', geo: { zoom: 3 } }] } })
  })
  test('leave an absent object without a default out, and stop at a default that contains itself', () => {
    expect(compile({ type: 'object', properties: { address } }).parse({})).toEqual({ value: {} })
    const self = { type: 'object', properties: { child: { $ref: '#', default: {} } } }
    expect(compile(self).parse({})).toEqual({ value: { child: {} } })
  })
  test('do not change the default of the schema', () => {
    const { parse, jsonSchema } = compile({ type: 'object', properties: { address: { ...address, default: {} } } })
    const before = JSON.stringify(jsonSchema)
    const { value } = parse({}) as { value: { address: { country: string } } }
    value.address.country = 'changed'
    expect(JSON.stringify(jsonSchema)).toBe(before)
    expect(parse({})).toMatchObject({ value: { address: { country: 'NO' } } })
  })
})

describe('a TypeBox schema', () => {
  const Tree = Type.Cyclic({ Node: Type.Object({ id: Type.String(), kids: Type.Array(Type.Ref('Node')) }) }, 'Node')
  const good = { id: 'a', kids: [{ id: 'b', kids: [] }] }
  const bad = { id: 'a', kids: [{ id: 3, kids: [] }] }

  test('validates Type.Cyclic by itself, in one property and in two', () => {
    expect([fits(Tree, good), fits(Tree, bad)]).toEqual([true, false])
    const { jsonSchema } = compile(Tree)
    expect(jsonSchema).toMatchObject({
      $ref: '#/$defs/Node',
      $defs: { Node: { properties: { kids: { items: { $ref: '#/$defs/Node' } } } } },
    })
    expect(JSON.stringify(jsonSchema)).not.toContain('$id')
    const two = Type.Object({ tree: Tree, other: Type.Optional(Tree) })
    expect(fits(two, { tree: good, other: good })).toBe(true)
    expect(fits(two, { tree: good, other: bad })).toBe(false)
  })
  test('validates objects, unions, tuples, records, intersections and defaults', () => {
    const schema = Type.Object({
      kind: Type.Union([Type.Literal('x'), Type.Literal('y')]),
      pair: Type.Tuple([Type.String(), Type.Number()]),
      map: Type.Record(Type.String(), Type.Number()),
      both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
      days: Type.Integer({ default: 3 }),
    })
    const value = { kind: 'x', pair: ['a', 1], map: { n: 1 }, both: { a: 'a', b: 'b' } }
    expect(compile(schema).parse(value)).toEqual({ value: { ...value, days: 3 } })
    for (const wrong of [{ kind: 'z' }, { pair: ['a'] }, { map: { n: 'x' } }, { both: { a: 'a' } }, { days: 1.5 }])
      expect(fits(schema, { ...value, ...wrong })).toBe(false)
  })
  test('validates recursion by $id, as older versions write it', () => {
    const schema = {
      $id: 'Node',
      type: 'object',
      properties: { id: { type: 'string' }, kids: { type: 'array', items: { $ref: 'Node' } } },
      required: ['id', 'kids'],
    }
    expect([fits(schema, good), fits(schema, bad)]).toEqual([true, false])
  })
})
