// Schemas of arguments that are too large: what does not fit accepts every value.
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../core/base/json.ts'
import { compileSchema } from '../../../../core/schema/compile.ts'
import { accepts, loadBody } from '../document.test-kit.ts'
import { loadDocument } from '../load-document.ts'
import { readDocument } from '../real-documents.test-kit.ts'

const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
/** A schema of more than 100,000 bytes. */
const LARGE = {
  type: 'object',
  properties: { big: { enum: Array.from({ length: 2_000 }, (_, i) => `${i}`.padEnd(50)) } },
}
const CARD = { type: 'object', required: ['number'], properties: { number: { type: 'string' } } }

const load = (schema: JsonObject) =>
  loadBody(schema, {
    components: { schemas: { A: LARGE, B: structuredClone(LARGE), C: structuredClone(LARGE), Card: CARD } },
  })

/** An order with an amount and three large parts. */
const ORDER = {
  type: 'object',
  required: ['amount'],
  properties: { amount: { type: 'integer' }, a: ref('A'), b: ref('B'), c: ref('C') },
}

test('keeps the operation with what is near its arguments', async () => {
  const operation = await load(ORDER)
  expect(operation.problems).toEqual([
    expect.stringMatching(/^POST \/pets: the schema of the arguments is cut to 256000/),
  ])
  expect(accepts(operation, { amount: 5, c: 'anything' })).toBe(true)
  expect(accepts(operation, { amount: 'five' })).toBe(false)
  expect(accepts(operation, { amount: 5, a: { big: 'none of them' } })).toBe(false)
})

test.each<[string, JsonObject]>([
  ['oneOf', { oneOf: [ref('Card'), ref('C')] }],
  ['oneOf beside anyOf', { oneOf: [ref('Card'), ref('C')], anyOf: [ref('Card')] }],
  ['not', { not: ref('C'), type: 'object' }],
  ['if', { if: ref('C'), else: ref('Card') }],
  ['unevaluatedProperties', { allOf: [ref('C')], unevaluatedProperties: false }],
  ['maxContains', { contains: ref('C'), maxContains: 0, minContains: 0 }],
])('refuses no valid value because of %s', async (_, pay) => {
  const operation = await load({ ...ORDER, properties: { ...ORDER.properties, pay } })
  const value = pay.contains ? [{ number: '4' }] : { number: '4' }
  expect(accepts(operation, { amount: 5, pay: value })).toBe(true)
  expect(accepts(operation, { amount: 'five', pay: value })).toBe(false)
})

test('leaves out an operation whose own schema is too large', async () => {
  const inline = Array.from({ length: 3 }, (_, i) => [`p${i}`, LARGE])
  await expect(load({ type: 'object', properties: Object.fromEntries(inline) })).rejects.toThrow('larger than 256000')
})

test('DocuSign can create an envelope', async () => {
  const { operations } = await loadDocument(readDocument('docusign.net'), (name) => name === 'envelopes_post_envelopes')
  const [create] = operations
  expect(create).toMatchObject({ method: 'POST', path: '/v2.1/accounts/{accountId}/envelopes' })
  compileSchema(create?.argumentsSchema, 'create', { object: true })
})
