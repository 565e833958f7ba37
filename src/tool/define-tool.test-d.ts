import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { ToolContext } from './context.ts'
import { tool } from './define-tool.ts'
import type { Tool } from './tool.ts'
import type { TypedTool } from './tool-options.ts'

const base = { name: 't', description: 'd' }

test('tool() infers arguments from a Zod schema, with defaults and transforms', () => {
  const made = tool({
    ...base,
    parameters: z.object({ city: z.string(), days: z.int().default(3), note: z.string().optional() }),
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number; note?: string | undefined }>()
      return args.city
    },
  })
  expectTypeOf(made).toExtend<Tool>()
  expectTypeOf(made.run).returns.toEqualTypeOf<string>()
})

test('tool() infers arguments from an ArkType schema', () => {
  tool({
    ...base,
    parameters: type({ city: 'string', days: 'number = 3' }),
    run: (args) => expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>(),
  })
})

test('tool() infers arguments from a Valibot schema', () => {
  tool({
    ...base,
    parameters: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number(), 3) })),
    run: (args) => expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>(),
  })
})

test('tool() infers arguments from a constant JSON Schema', () => {
  tool({
    ...base,
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        units: { enum: ['celsius', 'fahrenheit'] },
        days: { type: 'integer', default: 3 },
        tags: { type: 'array', items: { type: 'string' } },
        at: { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
        maybe: { type: ['string', 'null'] },
        either: { anyOf: [{ type: 'boolean' }, { const: 'all' }] },
      },
      required: ['city', 'units'],
    },
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<{
        city: string
        units: 'celsius' | 'fahrenheit'
        days: number
        tags?: string[]
        at?: { lat: number }
        maybe?: string | null
        either?: boolean | 'all'
      }>()
    },
  })
})

test('tool() infers unknown from a JSON Schema whose type is not constant', () => {
  const loose: Record<string, unknown> = { type: 'object' }
  tool({ ...base, parameters: loose, run: (args) => expectTypeOf(args).toBeUnknown() })
  const widened = { type: 'object', properties: { a: { type: 'string' } } }
  tool({ ...base, parameters: widened, run: (args) => expectTypeOf(args).toBeUnknown() })
})

test('tool() infers no arguments without parameters', () => {
  const made = tool({ ...base, run: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, never>>() })
  expectTypeOf(made).toExtend<Tool>()
})

test('tool() checks the type of the result against outputSchema', () => {
  const outputSchema = z.object({ sum: z.number() })
  const sync = tool({ ...base, outputSchema, run: () => ({ sum: 1 }) })
  expectTypeOf(sync.run).returns.toExtend<{ sum: number }>()
  tool({ ...base, outputSchema, run: async () => ({ sum: 1 }) })
  tool({
    ...base,
    outputSchema,
    run: async function* () {
      yield 'half'
      return { sum: 1 }
    },
  })
  // @ts-expect-error sum is a number
  tool({ ...base, outputSchema, run: () => ({ sum: 'one' }) })
  // @ts-expect-error sum is a number
  tool({ ...base, outputSchema, run: async () => ({ sum: 'one' }) })
})

test('tool() keeps the return type of async functions and generators', () => {
  const asynchronous = tool({ ...base, run: async () => 5 })
  expectTypeOf(asynchronous.run).returns.toEqualTypeOf<Promise<number>>()
  const progress = tool({
    ...base,
    run: function* () {
      yield 1
      return 'done'
    },
  })
  expectTypeOf(progress.run).returns.toExtend<Generator<unknown, string, unknown>>()
})

test('tool() types the arguments of requiresConfirmation, confirmationHint and reconcile', () => {
  const made = tool({
    ...base,
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: ({ amount }) => amount > 100,
    confirmationHint: ({ amount }) => `Pay ${amount.toFixed(2)}?`,
    effect: 'reconcilable',
    reconcile: ({ args }) => ({ status: 'done', result: args.amount }),
    run: ({ amount }) => amount,
  })
  const tools: Tool[] = [made]
  expectTypeOf(tools).toExtend<readonly Tool[]>()
  expectTypeOf(made).toExtend<TypedTool<{ amount: number }, number>>()
})

test('tool() rejects a misspelled option', () => {
  // @ts-expect-error timeoutMs
  tool({ ...base, timeoutMS: 5, run: () => 1 })
})

test('tool() accepts a class with private members as a Tool', () => {
  class Counter {
    #count = 0
    readonly name = 'count'
    readonly description = 'counts'
    declaration() {
      return { name: this.name, description: this.description }
    }
    run(_args: { by: number }, _context: ToolContext) {
      return ++this.#count
    }
  }
  expectTypeOf<Counter>().toExtend<Tool>()
})

test('tool() types the answer of requestInput by its schema', () => {
  tool({
    name: 'ask',
    description: 'Ask',
    run: (_args, context) => {
      const input = context.requestInput({ key: 'k', message: 'k?', schema: z.object({ n: z.coerce.number() }) })
      expectTypeOf(input).toEqualTypeOf<{ n: number } | undefined>()
      const choice = context.requestInput({ key: 'c', message: 'c?', schema: { enum: ['tea', 'coffee'] } })
      expectTypeOf(choice).toEqualTypeOf<'tea' | 'coffee' | undefined>()
      expectTypeOf(context.requestInput({ key: 'u', message: 'u?' })).toBeUnknown()
      expectTypeOf(context.requestInput<string>({ key: 's', message: 's?' })).toEqualTypeOf<string | undefined>()
    },
  })
})
