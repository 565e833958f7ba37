// Structured answers: known values are filled in, other values have the right type.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../../core/base/json.ts'
import { declare, exchange, generateParts, textFor, user } from './offline-request.test-kit.ts'

const weather = declare('get_weather', 'Get the weather in a city', { city: { type: 'string' } })
const asked = user('What is the weather in Oslo?')
const answered = exchange('get_weather', { city: 'Oslo' }, { city: 'Oslo', celsius: -3, sky: ['clear', 'cold'] })

async function answerTo(schema: z.ZodType, messages = [asked, ...answered]): Promise<unknown> {
  const responseJsonSchema = z.toJSONSchema(schema) as JsonObject
  const config = { responseJsonSchema, responseMimeType: 'application/json' }
  return schema.parse(JSON.parse(await textFor({ tools: [weather], messages, config })))
}

test('the offline model calls tools before a structured answer', async () => {
  const config = { responseJsonSchema: { type: 'object', properties: { celsius: { type: 'number' } } } }
  expect((await generateParts({ tools: [weather], messages: [asked], config }))[0]?.functionCall?.name).toBe(
    'get_weather',
  )
})

test('the offline model fills a structured answer with values that have the same names in the results', async () => {
  const schema = z.object({
    city: z.string(),
    temperatureCelsius: z.number().optional(),
    celsius: z.number(),
    sky: z.array(z.string()),
  })
  expect(await answerTo(schema)).toEqual({ city: 'Oslo', celsius: -3, sky: ['clear', 'cold'] })
})

test('the offline model uses the answer text for an unknown string of a structured answer', async () => {
  expect(await answerTo(z.object({ summary: z.string() }))).toEqual({
    summary: 'It is -3 °C in Oslo, sky: clear and cold.',
  })
})

test('the offline model fills a structured answer with values from the message when there are no results', async () => {
  const schema = z.object({ name: z.string(), age: z.int(), city: z.string(), email: z.email().optional() })
  const messages = [user('I am Ada, 36 years old, from Oslo, ada@example.com.')]
  expect(await answerTo(schema, messages)).toEqual({ name: 'Ada', age: 36, city: 'Oslo', email: 'ada@example.com' })
})

test('the offline model copies lists of objects into a structured answer item by item', async () => {
  const found = exchange('get_weather', {}, { orders: [{ id: 'A-1', total: 4, secret: 1 }, { id: 'A-2' }] })
  const schema = z.object({ orders: z.array(z.object({ id: z.string(), total: z.number() })) })
  expect(await answerTo(schema, [user('My orders?'), ...found])).toEqual({
    orders: [
      { id: 'A-1', total: 4 },
      { id: 'A-2', total: 0 },
    ],
  })
})

describe('a structured answer of the offline model has the right type for unknown', () => {
  test.each<[name: string, schema: z.ZodType]>([
    ['numbers', z.object({ n: z.number(), i: z.int() })],
    ['texts', z.object({ a: z.string(), c: z.string().nullable() })],
    ['choices', z.object({ a: z.enum(['x', 'y']), b: z.literal('z'), c: z.union([z.literal(1), z.literal(2)]) })],
    ['booleans and null', z.object({ a: z.boolean(), b: z.null() })],
    ['lists', z.object({ a: z.array(z.number()), b: z.array(z.boolean()) })],
    ['objects', z.object({ a: z.object({ b: z.object({ c: z.int() }) }), d: z.record(z.string(), z.number()) })],
    [
      'alternatives',
      z.object({
        a: z.union([z.object({ n: z.number() }), z.string()]),
        b: z.discriminatedUnion('t', [z.object({ t: z.literal('x'), n: z.number() }), z.object({ t: z.literal('y') })]),
      }),
    ],
    ['a bare number', z.number()],
    ['a bare text', z.string()],
    ['a bare list', z.array(z.int())],
  ])('%s', async (_, schema) => {
    await expect(answerTo(schema, [user('Hello')])).resolves.toBeDefined() // answerTo parses the answer with the schema
  })
})

test('the offline model calls the tool for the final answer, and not again after a rejection', async () => {
  const schema = { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] }
  const final = { name: 'set_model_response', description: 'Give your final answer.', parametersJsonSchema: schema }
  const tools = [weather, final]
  expect((await generateParts({ tools, messages: [asked] }))[0]?.functionCall?.name).toBe('get_weather')
  const given = { name: 'set_model_response', args: { celsius: -3 } }
  expect(await generateParts({ tools, messages: [asked, ...answered] })).toEqual([{ functionCall: given }])
  const refused = exchange(given.name, given.args, { error: 'Invalid arguments', errorCode: 'INVALID_ARGS' }, 'call-2')
  const again = await generateParts({ tools, messages: [asked, ...answered, ...refused] })
  expect(again[0]?.text).toContain('That did not work: Invalid arguments')
})
