import { expect, test } from 'vitest'
import { findUnknownField } from './unknown-field.ts'

const line = { type: 'object', properties: { sku: {}, count: {} } }
const schema = { type: 'object', properties: { table: {}, limit: {}, lines: { type: 'array', items: line } } }

test.each([
  [{ table: 't', limti: 10 }, 'limti'],
  [{ lines: [{ sku: 1 }, { sku: 2, cuont: 3 }] }, 'lines.1.cuont'],
  [{ table: 't', limit: 1, lines: [] }, undefined],
  [{ ['__proto__x']: 1 }, '__proto__x'],
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
