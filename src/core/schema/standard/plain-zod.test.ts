import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import * as zm from 'zod/mini'
import { compileSchema } from '../compile.ts'
import { isPlainZodObject } from './plain-zod.ts'

const plain = [
  z.object({ city: z.string().describe('City name'), units: z.string().optional() }),
  z.object({ n: z.number().min(1).max(9), i: z.int(), s: z.string().min(1).max(5).regex(/^a/).trim() }),
  z.strictObject({ a: z.array(z.object({ b: z.boolean().nullable() })).max(3) }).describe('x'),
  z.object({ e: z.enum(['a', 'b']).default('a'), l: z.literal(['x', 1, null]), u: z.union([z.string(), z.null()]) }),
  z.looseObject({
    m: z.email(),
    d: z.iso.datetime(),
    a: z.any(),
    r: z
      .string()
      .refine(() => true)
      .readonly(),
  }),
]
const uncertain = [
  z.object({ d: z.date() }),
  z.object({ d: z.string().min(-1) }),
  z.object({ d: z.number().max(Number.POSITIVE_INFINITY) }),
  z.object({ d: z.number().multipleOf(0.1) }),
  z.object({ d: z.any().default(new Date(0)) }),
  z.object({ d: z.string().meta({ type: 5 }) }),
  z.object({ d: z.string().describe('x'.repeat(300_000)) }),
  z.object({ d: z.literal(1n) }),
  z.object({ [Symbol('s')]: z.string() } as { a: z.ZodString }),
  z.object({ d: z.lazy(() => z.string()) }),
  z.object({ d: z.string().catch('x') }),
  z.string(),
  z.union([z.object({}), z.object({})]),
  zm.object({ a: zm.string() }),
  {},
]

test.each(plain)('compileSchema() converts a plain Zod object schema at its first use', (schema) => {
  expect(isPlainZodObject(schema)).toBe(true)
  const convert = vi.spyOn(schema['~standard'].jsonSchema, 'input')
  const compiled = compileSchema(schema, 'Tool "t"', { object: true })
  expect(convert).not.toHaveBeenCalled()
  expect(compiled.jsonSchema).toMatchObject({ type: 'object' })
  compiled.parse({})
  expect(compiled.jsonSchema).toBe(compiled.jsonSchema)
  expect(convert).toHaveBeenCalledTimes(1)
})

test.each(uncertain)('compileSchema() converts a Zod schema that may not convert at once', (schema) => {
  expect(isPlainZodObject(schema)).toBe(false)
})

test('compileSchema() refuses a Zod schema that is nested too deeply or too large at once', () => {
  let deep: z.ZodType = z.string()
  for (let i = 0; i < 100; i++) deep = z.object({ a: deep })
  expect(() => compileSchema(deep, 'Tool "t"')).toThrow('64 levels')
  const wide = z.object(Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`k${i}`, z.string()])))
  expect(() => compileSchema(wide, 'Tool "t"')).toThrow('5000 parts')
})
