import { expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../../core/base/json.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import { withObjectRoot } from './object-root.ts'

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const place = { type: 'object', properties: { lat: { type: 'number' }, city: { type: 'null' } }, required: ['lat'] }

test.each<[string, JsonObject, JsonObject]>([
  ['keeps a plain object', city, city],
  ['adds properties to an object without them', { type: 'object' }, { type: 'object', properties: {} }],
  [
    'merges oneOf and requires what all alternatives require',
    { oneOf: [city, { ...place, required: ['lat', 'city'] }] },
    {
      type: 'object',
      properties: { city: { anyOf: [{ type: 'string' }, { type: 'null' }] }, lat: { type: 'number' } },
      required: ['city'],
    },
  ],
  [
    'merges allOf and requires everything',
    { allOf: [city, { properties: { lat: { type: 'number' } }, required: ['lat'] }] },
    {
      type: 'object',
      properties: { city: { type: 'string' }, lat: { type: 'number' } },
      required: ['city', 'lat'],
    },
  ],
  [
    'follows a reference',
    { $ref: '#/$defs/a~1b', $defs: { 'a/b': { ...city, additionalProperties: false } } },
    { ...city, additionalProperties: false, $defs: { 'a/b': { ...city, additionalProperties: false } } },
  ],
  ['ignores a reference to itself', { $ref: '#' }, { type: 'object', properties: {} }],
  ['ignores a reference without a target', { $ref: '#/$defs/gone' }, { type: 'object', properties: {} }],
  [
    'ignores an alternative that refers to its own root',
    { anyOf: [{ $ref: '#' }, city] },
    { type: 'object', properties: city.properties },
  ],
])('withObjectRoot() %s', (_, schema, expected) => expect(withObjectRoot(schema)).toEqual(expected))

test('withObjectRoot() merges a discriminated union of Zod', () => {
  const schema = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), n: z.number() }),
    z.object({ kind: z.literal('b'), s: z.string() }),
  ])
  const made = withObjectRoot(compileSchema(schema, 'It').jsonSchema)
  expect(made).toMatchObject({ type: 'object', required: ['kind'], properties: { n: {}, s: {} } })
  expect(made.properties).toMatchObject({ kind: { anyOf: [{ const: 'a' }, { const: 'b' }] } })
})

test('withObjectRoot() reads each of exponentially many references once', () => {
  const $defs: JsonObject = { d0: city }
  for (let n = 1; n < 60; n++)
    $defs[`d${n}`] = { anyOf: [{ $ref: `#/$defs/d${n - 1}` }, { $ref: `#/$defs/d${n - 1}` }] }
  expect(withObjectRoot({ $ref: '#/$defs/d59', $defs })).toMatchObject({
    properties: city.properties,
    required: ['city'],
  })
})
