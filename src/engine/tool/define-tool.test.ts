import { type } from 'arktype'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ToolContext } from '../context/context.ts'
import { tool, toolOfFunction } from './define-tool.ts'
import { isTool } from './tool.ts'

const context = {} as ToolContext

test('tool() declares the tool, validates its arguments and runs its body', async () => {
  const getWeather = tool({
    name: 'get_weather',
    description: 'Get current weather for a city',
    parameters: z.object({ city: z.string(), units: z.enum(['celsius', 'fahrenheit']).default('celsius') }),
    outputSchema: z.object({ city: z.string(), temperature: z.number() }),
    run: async ({ city }) => ({ city, temperature: 22 }),
  })
  expect(isTool(getWeather)).toBe(true)
  expect(getWeather.declaration()).toEqual({
    name: 'get_weather',
    description: 'Get current weather for a city',
    parametersJsonSchema: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        units: { type: 'string', enum: ['celsius', 'fahrenheit'], default: 'celsius' },
      },
      required: ['city'],
    },
    responseJsonSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, temperature: { type: 'number' } },
      required: ['city', 'temperature'],
    },
  })
  expect(getWeather.declaration()).toBe(getWeather.declaration())
  expect(getWeather.parse?.({ city: 'Oslo' })).toMatchObject({ value: { city: 'Oslo', units: 'celsius' } })
  expect(getWeather.parse?.({ city: 5 })).toEqual({ issues: [{ path: 'city', expected: 'string' }] })
  expect(await getWeather.run({ city: 'Oslo', units: 'celsius' }, context)).toEqual({ city: 'Oslo', temperature: 22 })
})

test('tool() passes an empty object to the body of a tool without parameters', () => {
  const ping = tool({ name: 'ping', description: 'd', run: (args) => args })
  expect(ping.declaration()).toEqual({ name: 'ping', description: 'd' })
  expect(ping.parse?.({ extra: 1 })).toEqual({ value: {} })
  expect(ping.parse?.('text')).toHaveProperty('issues')
})

test('tool() accepts an ArkType schema, which is a function, as parameters and as outputSchema', () => {
  const outputSchema = type({ ok: 'boolean' })
  const made = tool({
    name: 't',
    description: 'd',
    parameters: type({ n: 'number = 3' }),
    outputSchema,
    run: () => ({ ok: true }),
  })
  expect(made.declaration()?.parametersJsonSchema).toEqual({ type: 'object', properties: { n: { type: 'number' } } })
  expect(made.parse?.({})).toMatchObject({ value: { n: 3 } })
  expect(made.outputSchema).toBe(outputSchema)
})

test('the declaration tells the model not to call a pending long-running tool again', () => {
  const made = tool({ name: 't', description: 'Starts a job.', isLongRunning: true, run: () => 1 })
  expect(made.declaration()?.description).toMatch(/^Starts a job\.\n\n.*pending, do not call the tool again/)
  expect(made.description).toBe('Starts a job.')
})

test('tool() copies every option to the tool', async () => {
  const options = {
    name: 't',
    description: 'd',
    effect: 'reconcilable',
    timeoutMs: 5,
    sequential: true,
    mayRepeat: true,
    allowEditedArgs: true,
    expiresInMs: 9,
    requiresConfirmation: () => true,
    reconcile: () => ({ status: 'unknown' }) as const,
    processLlmRequest: () => {},
    run: () => 1,
  } as const
  const made = tool({ ...options, confirmationHint: 'Really?' })
  expect(made).toMatchObject({
    effect: 'reconcilable',
    timeoutMs: 5,
    sequential: true,
    mayRepeat: true,
    expiresInMs: 9,
  })
  expect(made.requiresConfirmation).toBeTypeOf('function')
  expect(made.confirmationHint?.({})).toBe('Really?')
  expect(await made.reconcile?.({ idempotencyKey: 'k', args: {}, context })).toEqual({ status: 'unknown' })
  expect(made.processLlmRequest).toBeTypeOf('function')
  const asks = tool({
    ...options,
    parameters: z.object({ n: z.number() }),
    confirmationHint: ({ n }) => `Pay ${n}?`,
  })
  expect(asks.confirmationHint?.({ n: 5 })).toBe('Pay 5?')
})

test('tool() accepts a class instance with private members', () => {
  class Greeter {
    readonly name = 't'
    readonly description = 'd'
    readonly #greeting = 'hello'
    run(): string {
      return this.#greeting
    }
    requiresConfirmation(): boolean {
      return this.#greeting === 'hello'
    }
    shout(): string {
      return this.#greeting.toUpperCase()
    }
  }
  const greet = tool(new Greeter())
  expect(greet.run({}, context)).toBe('hello')
  const { requiresConfirmation } = greet
  expect(typeof requiresConfirmation === 'function' && requiresConfirmation({}, context)).toBe(true)
})

test('tool() rejects a function whose types were not read with NEEDS_INFER, and does not call it', () => {
  let calls = 0
  const add = (a: number, b: number): number => a + b + ++calls
  const refused = expect.objectContaining({ code: 'NEEDS_INFER', message: expect.stringContaining('function "add"') })
  expect(() => tool(add)).toThrow(refused)
  expect(() => tool(add, { name: 'add', description: 'Add', parameters: z.object({}) })).toThrow(refused)
  expect(calls).toBe(0)
})

test('tool() rejects a class', () => {
  class Search {}
  expect(() => tool(Search as never)).toThrow(expect.objectContaining({ code: 'NEEDS_INFER' }))
})

test('toolOfFunction() says which list contains a function whose types were not read', () => {
  const search = (): void => {}
  expect(() => toolOfFunction(search, 'The tools of agent "desk"')).toThrow(
    'The tools of agent "desk" contain the function "search"',
  )
})

describe('tool() rejects', () => {
  const good = { name: 't', description: 'd', run: () => 1 }
  test.each<[string, object | undefined, RegExp]>([
    ['no options', undefined, /takes an object/],
    ['no name', { ...good, name: undefined }, /needs a name: tool\(\{ name, description, run \}\)\.$/],
    ['a tool of the AI SDK', { description: 'd', execute: () => 1 }, /needs a name.*fromAiSdkTools/],
    ['an invalid name', { ...good, name: 'two words' }, /"two words"/],
    ['a reserved name', { ...good, name: 'adk_request_input' }, /reserved/],
    ['no description', { name: 't', run: () => 1 }, /description/],
    ['no body', { name: 't', description: 'd' }, /run function/],
    ['an unknown effect', { ...good, effect: 'some' }, /effect/],
    ['reconcilable without reconcile', { ...good, effect: 'reconcilable' }, /no reconcile function/],
    ['a timeoutMs of 0', { ...good, timeoutMs: 0 }, /timeoutMs/],
    ['a timeoutMs that is a string', { ...good, timeoutMs: '5' }, /timeoutMs/],
    ['a timeoutMs that is too long', { ...good, timeoutMs: 2 ** 31 }, /timeoutMs/],
    ['a requiresConfirmation that is a string', { ...good, requiresConfirmation: 'yes' }, /requiresConfirmation/],
    ['middleware that is not a function', { ...good, middleware: ['x'] }, /middleware/],
    [
      'an invalid schema',
      { ...good, parameters: { type: 'object', properties: { a: { type: 'strin' } } } },
      /Tool "t".*a\/type/,
    ],
    ['parameters that are not an object schema', { ...good, parameters: z.string() }, /object schema/],
    ['a record of Zod schemas', { ...good, parameters: { city: z.string() } }, /#\/city .*Pass one schema .*z\.object/],
    [
      'a Zod schema inside a JSON Schema',
      { ...good, parameters: { type: 'object', properties: { city: z.string() } } },
      /#\/properties\/city .*Pass one schema .*z\.object/,
    ],
    ['parameters that are a string', { ...good, parameters: 'string' }, /schema/],
    ['an invalid output schema', { ...good, outputSchema: { type: 'x' } }, /output schema/],
  ])('%s', (_, options, message) => {
    const build = () => tool(options as never)
    expect(build).toThrow(ToolwrightError)
    expect(build).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringMatching(message) }))
  })
})
