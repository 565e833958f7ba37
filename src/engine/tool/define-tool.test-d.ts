import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { ToolContext } from '../context/context.ts'
import { tool } from './define-tool.ts'
import type { FunctionArgs } from './functions/function-tool-options.ts'
import type { Tool } from './tool.ts'
import type { TypedTool } from './tool-options.ts'
import type { ToolSource } from './tool-source.ts'
import { StaticToolset, type Toolset } from './toolset.ts'

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

interface Order {
  id: string
  amount: number
}
declare function refund(order: Order, context: ToolContext): Promise<{ refunded: number }>
declare function getWeather(city: string, units: 'celsius' | 'fahrenheit', context?: ToolContext): { degrees: number }

test('tool(fn) has the arguments and the result of the function', () => {
  const made = tool(refund)
  expectTypeOf(made).toExtend<Tool>()
  expectTypeOf(made.run).parameter(0).toEqualTypeOf<Order>()
  expectTypeOf(made.run).returns.toEqualTypeOf<Promise<{ refunded: number }>>()
  expectTypeOf(tool(getWeather).run).parameter(0).toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf(tool(getWeather).run).returns.toEqualTypeOf<{ degrees: number }>()
})

test('tool(fn, options) types the callbacks of a function with one object parameter', () => {
  tool(refund, {
    requiresConfirmation: (args) => {
      expectTypeOf(args).toEqualTypeOf<Order>()
      return args.amount > 100
    },
    confirmationHint: ({ amount }) => `Refund ${amount.toFixed(2)}?`,
    effect: 'reconcilable',
    reconcile: ({ args }) => ({ status: 'done', result: args.amount }),
    toModelOutput: ({ args, result }) => {
      expectTypeOf(args).toEqualTypeOf<Order>()
      expectTypeOf(result).toEqualTypeOf<{ refunded: number }>()
      return result.refunded
    },
  })
  tool(refund, {
    // @ts-expect-error the order has no total
    requiresConfirmation: ({ total }) => total > 100,
  })
})

test('tool(fn, options) types the arguments of several parameters as unknown values by name', () => {
  tool(getWeather, {
    requiresConfirmation: (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>()
      return args.city === 'Oslo'
    },
    confirmationHint: ({ city }) => `Weather of ${String(city)}?`,
    toModelOutput: ({ result }) => result.degrees,
  })
})

test('tool(fn, options) knows the object parameter before and after the context', () => {
  const first = (context: ToolContext, order: Order): number => order.amount + context.functionCallId.length
  tool(first, { requiresConfirmation: ({ amount }) => amount > 1 })
  const optional = ({ amount }: Order, _context?: ToolContext): number => amount
  tool(optional, { requiresConfirmation: ({ amount }) => amount > 1 })
  const destructured = ({ amount = 5 }: { amount?: number } = {}): number => amount
  tool(destructured, {
    requiresConfirmation: ({ amount }) => {
      expectTypeOf(amount).toEqualTypeOf<number | undefined>()
      return true
    },
  })
})

test('tool(fn, options) takes a list, a date or bytes as one parameter among others', () => {
  tool((dates: Date[]) => dates.length, {
    requiresConfirmation: (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>()
      return true
    },
  })
  tool((at: Date) => at, { confirmationHint: ({ at }) => String(at) })
  tool((file: Uint8Array) => file, { confirmationHint: ({ file }) => String(file) })
})

test('tool(fn, options) takes no parameter for all arguments that is passed by its name', () => {
  type Event = { kind: 'delete'; id: string } | { kind: 'read' }
  const named = <A>(_fn: (arg: A) => unknown): FunctionArgs<(arg: A) => unknown> => ({}) as never
  expectTypeOf(named((event: Event) => event)).toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf(named((scores: Record<string, number>) => scores)).toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf(named((headers: { [name: `x-${string}`]: string }) => headers)).toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf(named((pair: [string, number]) => pair)).toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf(named((id: string & { brand: 'id' }) => id)).toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf(named((value: unknown) => value)).toEqualTypeOf<Record<string, unknown>>()
  tool((event: Event) => event.kind, {
    requiresConfirmation: ({ event, kind }) => {
      expectTypeOf([event, kind]).toEqualTypeOf<unknown[]>()
      return true
    },
  })
})

test('tool(fn, options) types the callbacks by explicit parameters', () => {
  const made = tool(getWeather, {
    parameters: z.object({ city: z.string().max(10), units: z.enum(['celsius', 'fahrenheit']) }),
    requiresConfirmation: ({ city, units }) => {
      expectTypeOf(units).toEqualTypeOf<'celsius' | 'fahrenheit'>()
      return city.length > 5
    },
  })
  expectTypeOf(made.run).parameter(0).toEqualTypeOf<{ city: string; units: 'celsius' | 'fahrenheit' }>()
})

test('tool(fn, options) rejects a body and misspelled options', () => {
  tool(refund, {
    // @ts-expect-error the function is the body
    run: () => 1,
  })
  tool(refund, {
    // @ts-expect-error timeoutMs
    timeoutMS: 5,
  })
  tool(refund, {
    // @ts-expect-error a number
    timeoutMs: '5',
  })
})

test('tool() reports a wrong option of a written tool at that option', () => {
  tool({
    ...base,
    parameters: z.object({ city: z.string() }),
    // @ts-expect-error the arguments have no town
    run: ({ town }) => town,
  })
  tool({
    ...base,
    run: () => 1,
    // @ts-expect-error a number
    timeoutMs: '5',
  })
  tool({
    // @ts-expect-error a string
    name: 5,
    description: 'd',
    run: () => 1,
  })
  // @ts-expect-error the description is missing
  tool({ name: 't', run: () => 1 })
})

test('tools of an agent take any function, tool, toolset and lists of them', () => {
  const generic = <T>(value: T): T => value
  const fits = <T extends ToolSource>(source: T): T => source
  fits(refund)
  fits(getWeather)
  fits([refund, [getWeather, tool(refund)], generic])
  fits(() => {})
  fits(async () => 1)
  fits(async function* () {
    yield 1
  })
  fits((...names: string[]) => names)
  // @ts-expect-error text is not a tool
  fits('refund')
})

declare const makeTool: (index: string) => Tool
declare const makeToolset: () => Toolset

test('tools takes no function that makes a tool or a toolset: it has to be called', () => {
  const sources: ToolSource[] = [makeTool('docs'), makeToolset()]
  // @ts-expect-error call it: makeTool('docs')
  sources.push(makeTool)
  // @ts-expect-error call it: makeToolset()
  sources.push([makeToolset])
  // @ts-expect-error call it: makeTool('docs')
  new StaticToolset([makeTool])
  // @ts-expect-error call it: makeTool('docs')
  tool(makeTool)
  // @ts-expect-error call it: makeToolset()
  tool(makeToolset, { name: 'x' })
})

test('tools takes functions with every other result', () => {
  interface Weather {
    city: string
  }
  const functions: ToolSource[] = [
    (): Weather => ({ city: 'Oslo' }),
    (): Weather[] => [],
    (): Weather | undefined => undefined,
    (): void => {},
    (): never => {
      throw new Error('x')
    },
    // biome-ignore lint/suspicious/noExplicitAny: JSON.parse() returns it
    (): any => 1,
    (): Date => new Date(),
    (): Promise<unknown> => Promise.resolve(1),
    async function* (): AsyncGenerator<number, string> {
      yield 1
      return 'x'
    },
    (): { declaration: string; listTools: { count: number } } => ({ declaration: 'x', listTools: { count: 1 } }),
  ]
  expectTypeOf(functions).toExtend<readonly ToolSource[]>()
  expectTypeOf(tool((): unknown => 1)).toExtend<Tool>()
})
