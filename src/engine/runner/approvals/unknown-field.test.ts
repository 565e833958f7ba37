import { expect, test } from 'vitest'
import { findUnknownField } from './unknown-field.ts'

const line = { type: 'object', properties: { sku: {}, count: {} } }
const schema = { type: 'object', properties: { table: {}, limit: {}, lines: { type: 'array', items: line } } }

test.each([
  [{ table: 't', limti: 10 }, 'limti'],
  [{ lines: [{ sku: 1 }, { sku: 2, cuont: 3 }] }, 'lines.1.cuont'],
  [{ table: 't', limit: 1, lines: [] }, undefined],
  [{ __proto__x: 1 }, '__proto__x'],
  [{ constructor: 1 }, 'constructor'],
])('finds the misspelt field of %j', (edited, path) => {
  expect(findUnknownField(schema, edited, {})).toBe(path)
})

test('accepts a field that the approver saw, which the model had sent', () => {
  expect(findUnknownField(schema, { table: 'u', note: 'x' }, { table: 't', note: 'x' })).toBeUndefined()
})

test.each([
  { ...schema, additionalProperties: true },
  { ...schema, additionalProperties: { type: 'number' } },
  { ...schema, anyOf: [{}] },
  { type: 'object' },
  undefined,
])('accepts any field where the schema does: %j', (open) => {
  expect(findUnknownField(open, { table: 't', limti: 10 }, {})).toBeUndefined()
})

const card = { type: 'object', properties: { kind: { const: 'card' }, number: {} }, required: ['kind', 'number'] }
const bank = { type: 'object', properties: { kind: { const: 'bank' }, iban: {}, note: {} }, required: ['kind', 'iban'] }
const tree = { type: 'object', properties: { name: {}, children: { type: 'array', items: { $ref: '#/$defs/tree' } } } }
const combined = {
  type: 'object',
  properties: {
    to: { anyOf: [card, bank] },
    either: {
      oneOf: [
        { type: 'object', properties: { a: {} } },
        { type: 'object', properties: { b: {} } },
      ],
    },
    both: {
      allOf: [
        { type: 'object', properties: { a: {} } },
        { type: 'object', properties: { b: {} } },
      ],
    },
    tree: { $ref: '#/$defs/tree' },
    maybe: { anyOf: [{ type: 'null' }, card] },
    open: { anyOf: [card, { type: 'object', additionalProperties: true }] },
  },
  $defs: { tree },
}

test.each([
  [{ to: { kind: 'card', number: 1, nmae: 'x' } }, 'to.nmae'],
  [{ to: { kind: 'card', number: 1, note: 'of the other branch' } }, 'to.note'],
  [{ either: { a: 1, b: 2 } }, 'either.b'],
  [{ either: { a: 1, c: 2 } }, 'either.c'],
  [{ both: { a: 1, b: 2, c: 3 } }, 'both.c'],
  [{ tree: { name: 'x', children: [{ name: 'y', chlidren: [] }] } }, 'tree.children.0.chlidren'],
  [{ maybe: { kind: 'card', number: 1, cvc: 1 } }, 'maybe.cvc'],
])('finds the field that no alternative knows: %j', (edited, path) => {
  expect(findUnknownField(combined, edited, {})).toBe(path)
})

test.each([
  { to: { kind: 'bank', iban: 'x', note: 'y' } },
  { either: { b: 2 } },
  { both: { a: 1, b: 2 } },
  { tree: { name: 'x', children: [{ name: 'y', children: [{ name: 'z' }] }] } },
  { maybe: null },
  { open: { kind: 'other', anything: 1 } },
])('accepts the fields of an alternative: %j', (edited) => {
  expect(findUnknownField(combined, edited, {})).toBeUndefined()
})

test('a schema that refers to itself in many ways takes no time', () => {
  const many = Array.from({ length: 50 }, () => ({ $ref: '#' }))
  const self = { properties: { a: { anyOf: many } }, anyOf: many }
  const started = performance.now()
  expect(findUnknownField(self, { a: { a: { a: {} } }, b: 1 }, {})).toBeUndefined()
  expect(performance.now() - started).toBeLessThan(1_000)
})
