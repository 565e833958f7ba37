import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/base/json.ts'
import { formatOf } from './check-scalar.ts'
import { checkValue } from './check-value.ts'
import { constraintsOf } from './field-props.ts'
import { initialValue } from './initial-value.ts'
import { resolveSchema, shapeOf, variantName } from './shape.ts'

const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
})

test.each<[schema: JsonObject, value: unknown]>([
  [object({ a: { type: 'integer', minimum: 1, multipleOf: 2 } }, ['a']), { a: 4 }],
  [{ type: ['string', 'null'] }, null],
  [{ type: 'string', nullable: true }, null],
  [{ anyOf: [{ type: 'number' }, { const: 'all' }] }, 'all'],
  [{ type: 'array', items: { $ref: '#/$defs/a' }, $defs: { a: { enum: [1, 2] } } }, [1, 2]],
  [{ type: 'string', pattern: '[', format: 'unknown' }, 'x'],
  [{ type: 'string', maxLength: 1 }, '🙂'],
  [{}, 'anything'],
])('%j accepts %j', (schema, value) => expect(checkValue(schema, value)).toEqual([]))

test.each<[schema: JsonObject, value: unknown, issue: string]>([
  [object({ a: {} }, ['a']), {}, 'a: a value'],
  [object({ a: { type: 'integer' } }), { a: 1.5 }, 'a: integer'],
  [object({ a: object({ b: { type: 'string', minLength: 2 } }) }), { a: { b: 'x' } }, 'a.b: at least 2 characters'],
  [{ type: 'array', items: { type: 'number', exclusiveMaximum: 3 } }, [1, 3], '[1]: less than 3'],
  [{ type: 'array', uniqueItems: true }, [1, 1], ': items that differ'],
  [{ enum: ['a', 'b'] }, 'c', ': one of the options'],
  [{ const: 5 }, 6, ': 5'],
  [{ oneOf: [{ type: 'number' }, { type: 'boolean' }] }, 'x', ': one of the kinds'],
  [{ ...object({}), additionalProperties: false }, { x: 1 }, 'x: no such field'],
  [{ type: 'string', format: 'email' }, 'x', ': an email address'],
  [{ type: 'string', pattern: '^a' }, 'b', ': text that matches ^a'],
  [{ type: 'number', multipleOf: 0.1 }, 0.25, ': a multiple of 0.1'],
])('%j rejects %j', (schema, value, issue) =>
  expect(checkValue(schema, value).map(({ path, expected }) => `${path}: ${expected}`)).toEqual([issue]),
)

describe('a schema that contains itself', () => {
  const tree: JsonObject = { ...object({ child: { $ref: '#' } }), $defs: { loop: { $ref: '#/$defs/loop' } } }

  test('ends in a field for JSON', () => {
    let schema = tree
    let level = 0
    while (shapeOf(schema, level).type === 'object' && level < 100) {
      schema = resolveSchema({ $ref: '#' }, tree)
      level++
    }
    expect(level).toBeLessThan(20)
  })

  test('is resolved and checked in bounded time', () => {
    let value: JsonObject = {}
    for (let depth = 0; depth < 1000; depth++) value = { child: value }
    expect(checkValue(tree, value)).toEqual([])
    expect(resolveSchema({ $ref: '#/$defs/loop' }, tree)).toEqual({ $ref: '#/$defs/loop' })
    expect(resolveSchema({ $ref: '#/__proto__/x' }, tree)).toEqual({})
  })
})

test('a form starts with defaults, constants and required containers', () => {
  const schema = object(
    {
      kind: { const: 'order' },
      size: { enum: ['S', 'L'], default: 'S' },
      lines: { type: 'array', items: { type: 'string' } },
      note: { type: 'string' },
      address: object({ country: { type: 'string', default: 'NO' } }),
    },
    ['kind', 'lines', 'note', 'address'],
  )
  expect(initialValue(schema, schema)).toEqual({ kind: 'order', size: 'S', lines: [], address: { country: 'NO' } })
})

test('the kinds of a union are named by their title, tag, value or reference, and else by what they hold', () => {
  const root: JsonObject = { $defs: { card: object({ number: {} }) } }
  const tagged = (type: string): JsonObject => object({ type: { const: type }, at: {} }, ['type'])
  const kinds = [
    { ...tagged('x'), title: 'By post' },
    tagged('card'),
    object({ type: { enum: ['iban'] } }),
    { $ref: '#/$defs/card' },
    { const: 'none' },
    { const: 5 },
    object({ order: {}, amount: {} }),
    { type: 'string' },
    {},
  ].map((schema, at) => variantName(schema, root, at))
  expect(kinds).toEqual(['By post', 'card', 'iban', 'card', 'none', '5', 'order, amount', 'string', 'variant 9'])
})

test('a format is an input or words, never its pattern', () => {
  const hints = (schema: JsonObject): unknown => [formatOf(schema)?.input, constraintsOf(schema)]
  const pattern = '^(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?$' // as zod writes a time of the day
  expect(hints({ type: 'string', pattern })).toEqual(['time', ''])
  expect(hints({ type: 'string', format: 'date', pattern: '^x$' })).toEqual(['date', ''])
  expect(hints({ type: 'string', format: 'uuid', pattern: '^x$' })).toEqual([undefined, 'a UUID'])
  expect(hints({ type: 'string', pattern: '^A-\\d$' })).toEqual([undefined, 'matches ^A-\\d$'])
  expect(hints({ type: 'string', pattern: '[' })).toEqual([undefined, 'matches ['])
})
