import { type } from 'arktype'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ToolContext } from '../../context/context.ts'
import { tool, toolOfFunction } from '../define-tool.ts'
import type { Tool } from '../tool.ts'
import type { FunctionToolOptions } from './function-tool-options.ts'
import { attachInferred, type InferredFunction } from './inferred-function.ts'

const context = {} as ToolContext
const noon = '2026-01-31T12:00:00Z'

const inferred: InferredFunction = {
  name: 'refund',
  description: 'Refund an order.',
  parameters: {
    type: 'object',
    properties: { order: { type: 'string' }, amount: { type: 'number' } },
    required: ['order'],
    additionalProperties: false,
  },
  call: [{ argument: 'order' }, { argument: 'amount' }],
  response: { type: 'object', properties: { refunded: { type: 'number' } } },
}
function refund(order: string, amount = 10): { order: string; refunded: number } {
  return { order, refunded: amount }
}
attachInferred(refund, inferred)

/** A new function with its own description, for tests that change it. */
function functionWith(shape: Partial<InferredFunction>, fn: (...args: never[]) => unknown = () => 1): typeof fn {
  return attachInferred(fn, { ...inferred, ...shape })
}

const make = (fn: (...args: never[]) => unknown, options: unknown): Tool => tool(fn, options as object)
const invalid = (message: RegExp) =>
  expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringMatching(message) })

describe('tool(fn)', () => {
  test('declares what was inferred, checks the arguments and calls the function with them', () => {
    const made = tool(refund)
    expect(made.declaration()).toEqual({
      name: 'refund',
      description: 'Refund an order.',
      parametersJsonSchema: inferred.parameters,
      responseJsonSchema: inferred.response,
    })
    expect(made.parse?.({ order: 'A1', amount: 'all' })).toEqual({ issues: [{ path: 'amount', expected: 'number' }] })
    expect(made.parse?.({ order: 'A1', all: true })).toHaveProperty('issues')
    expect(made.run({ order: 'A1' }, context)).toEqual({ order: 'A1', refunded: 10 })
  })

  test('declares no response schema for a function without one', () => {
    const { response: _, ...shape } = inferred
    const made = tool(attachInferred(() => 1, shape))
    expect(made.declaration()).not.toHaveProperty('responseJsonSchema')
    expect(made).not.toHaveProperty('outputSchema')
  })

  test('passes dates and bytes to the function, and declares strings without the marks', () => {
    const properties = {
      at: { type: 'string', format: 'date-time', 'x-toolwright-type': 'Date' },
      file: { type: 'string', contentEncoding: 'base64', 'x-toolwright-type': 'Uint8Array' },
    }
    const book = (at: Date, file: Uint8Array): unknown[] => [at, file]
    const call = [{ argument: 'at' }, { argument: 'file' }]
    const made = tool(functionWith({ parameters: { type: 'object', properties, required: ['at'] }, call }, book))
    const parsed = made.parse?.({ at: noon, file: 'aGk=' }) as { value: never }
    expect(made.run(parsed.value, context)).toEqual([new Date(noon), new Uint8Array([104, 105])])
    expect(JSON.stringify(made.declaration())).not.toContain('x-toolwright-type')
    expect(made.parse?.({ at: 'noon' })).toEqual({
      issues: [{ path: 'at', expected: expect.stringContaining('date') }],
    })
    expect(made.parse?.({ at: noon, file: '?' })).toEqual({ issues: [{ path: 'file', expected: 'base64 text' }] })
    expect(made.parse?.({ at: '5' })).toHaveProperty('issues') // `new Date('5')` is a date in 2001
  })

  test('does not change the arguments that it parses', () => {
    const properties = { at: { type: 'string', format: 'date-time', 'x-toolwright-type': 'Date' } }
    const made = tool(functionWith({ parameters: { type: 'object', properties } }))
    const args = Object.freeze({ at: noon })
    expect(made.parse?.(args)).toEqual({ value: { at: new Date(noon) } })
    expect(args).toEqual({ at: noon })
  })

  test('without a name or a description throws and says what to write', () => {
    const { name: _, ...unnamed } = inferred
    const { description: _2, ...undescribed } = inferred
    expect(() => tool(attachInferred(() => 1, unnamed))).toThrow(
      invalid(/The function has no name.*tool\(fn, \{ name:/),
    )
    function quiet(): void {}
    expect(() => tool(attachInferred(quiet, undescribed))).toThrow(
      invalid(/Function "quiet" has no description.*doc comment.*tool\(fn, \{ description:/),
    )
    expect(tool(quiet, { description: 'Be quiet' }).declaration()?.description).toBe('Be quiet')
  })

  test('refuses a name that no tool may have', () => {
    expect(() => tool(functionWith({ name: 'adk_request_input' }))).toThrow(invalid(/reserved/))
    expect(() => tool(functionWith({ name: 'größe' }))).toThrow(invalid(/größe/))
    expect(tool(functionWith({ name: 'größe' }), { name: 'size' }).name).toBe('size')
  })

  test('gives the functions of two lists one tool', () => {
    const fn = functionWith({})
    expect(toolOfFunction(fn, 'A')).toBe(toolOfFunction(fn, 'B'))
    expect(toolOfFunction(functionWith({}), 'A')).not.toBe(toolOfFunction(fn, 'A'))
  })
})

describe('explicit options of tool(fn, options)', () => {
  test('win over the inferred name, description, parameters and response', () => {
    const made = tool(refund, {
      name: 'pay_back',
      description: 'Pay back.',
      parameters: z.object({ order: z.string(), amount: z.number().max(5) }),
      outputSchema: z.object({ refunded: z.number() }),
    })
    expect(made.declaration()).toEqual({
      name: 'pay_back',
      description: 'Pay back.',
      parametersJsonSchema: expect.objectContaining({ required: ['order', 'amount'] }),
      responseJsonSchema: expect.objectContaining({ required: ['refunded'] }),
    })
    expect(made.parse?.({ order: 'A1', amount: 6 })).toHaveProperty('issues')
    expect(made.run({ amount: 5, order: 'A1' }, context)).toEqual({ order: 'A1', refunded: 5 })
  })

  test('that are undefined leave the inferred values', () => {
    const made = make(refund, {
      name: undefined,
      description: undefined,
      parameters: undefined,
      outputSchema: undefined,
    })
    expect(made.declaration()).toEqual(tool(refund).declaration())
  })

  test('may be schemas that are functions', () => {
    const outputSchema = type({ refunded: 'number' })
    const made = tool(refund, { parameters: type({ order: 'string' }), outputSchema })
    expect(made.parse?.({ order: 5 })).toHaveProperty('issues')
    expect(made.parse?.({ order: 'A1' })).toMatchObject({ value: { order: 'A1' } })
    expect(made.outputSchema).toBe(outputSchema)
  })

  test('include every option of tool()', async () => {
    const options = {
      requiresConfirmation: () => true,
      confirmationHint: 'Really?',
      effect: 'reconcilable',
      reconcile: () => ({ status: 'unknown' }) as const,
      cancel: () => 'cancelled',
      timeoutMs: 5,
      sequential: true,
      mayRepeat: true,
      allowEditedArgs: true,
      expiresInMs: 9,
      isLongRunning: true,
      middleware: [],
      toModelOutput: () => 'short',
      processLlmRequest: () => {},
      authConfig: { credentialKey: 'k', authScheme: { type: 'apiKey', in: 'header', name: 'x' } },
    } as const satisfies FunctionToolOptions<typeof refund>
    const made = tool(refund, options)
    for (const name of Object.keys(options)) expect(made, name).toHaveProperty(name)
    expect(made.confirmationHint?.({})).toBe('Really?')
    expect(await made.reconcile?.({ idempotencyKey: 'k', args: {}, context })).toEqual({ status: 'unknown' })
    expect(made.declaration()?.description).toContain('do not call the tool again')
  })

  test('may be frozen', () => {
    const options = Object.freeze({ name: 'frozen', timeoutMs: 5 })
    expect(tool(refund, options)).toMatchObject({ name: 'frozen', timeoutMs: 5 })
  })

  test('may be an instance of a class with getters, private members and inherited callbacks', () => {
    class Limits {
      readonly #limit = 100
      get name(): string {
        return 'limited'
      }
      get timeoutMs(): number {
        return this.#limit
      }
      requiresConfirmation(): boolean {
        return this.#limit === 100
      }
    }
    class Strict extends Limits {
      confirmationHint(): string {
        return `More than ${this.timeoutMs}?`
      }
    }
    const { name, timeoutMs, requiresConfirmation, confirmationHint } = tool(refund, new Strict())
    expect({ name, timeoutMs }).toEqual({ name: 'limited', timeoutMs: 100 })
    expect(typeof requiresConfirmation === 'function' && requiresConfirmation({}, context)).toBe(true)
    expect(confirmationHint?.({})).toBe('More than 100?')
  })

  test.each<[string, unknown, RegExp]>([
    [
      'a misspelled option',
      { requireConfirmation: true },
      /tool\(refund, options\).*Did you mean "requiresConfirmation"/,
    ],
    ['an option without a meaning', { colour: 'red' }, /unknown option "colour"/],
    ['an unknown option that is undefined', { colour: undefined }, /unknown option "colour"/],
    [
      'an unknown option of a class',
      new (class {
        needsConfirmation = true
      })(),
      /unknown option "needsConfirmation"/,
    ],
    [
      'an inherited member that resembles an option',
      new (class {
        timeoutMS() {}
      })(),
      /Did you mean "timeoutMs"/,
    ],
    ['an option of the wrong type', { timeoutMs: '5' }, /timeoutMs must be/],
    [
      'a gate of the wrong type in a class',
      new (class {
        get requiresConfirmation() {
          return 'yes'
        }
      })(),
      /requiresConfirmation must be/,
    ],
    ['a body', { run: () => 1 }, /Function "refund" is the body of the tool\. Leave out the option run/],
    [
      'an inherited body',
      new (class {
        run() {}
      })(),
      /is the body of the tool/,
    ],
    ['a tool', tool(refund), /is the body of the tool/],
    ['text', 'refund', /takes an object of options/],
    ['null', null, /takes an object of options/],
    ['a list', [], /takes an object of options/],
    ['a function', () => 1, /takes an object of options/],
    ['parameters that are not an object schema', { parameters: z.string() }, /object schema/],
    ['an effect without reconcile', { effect: 'reconcilable' }, /no reconcile function/],
  ])('cannot be %s', (_, options, message) => {
    expect(() => make(refund, options)).toThrow(invalid(message))
  })
})

test('tool(fn) refuses a function whose schema only explicit parameters give', () => {
  const fn = functionWith({ parameters: { type: 'object' }, needsParameters: true })
  const refused = invalid(/has no schema.*tool\(fn, \{ parameters \}\).*leave out the option/)
  expect(() => make(fn, { parameters: undefined })).toThrow(refused)
  expect(() => toolOfFunction(fn, 'The tools')).toThrow(refused)
  expect(make(fn, { parameters: z.object({ a: z.string() }) }).parse?.({ a: 5 })).toHaveProperty('issues')
})

test('tool(fn) accepts no arguments with the names of prototype members that are not declared', () => {
  const made = tool(refund)
  const hostile = JSON.parse('{ "order": "A1", "__proto__": { "amount": 5 }, "constructor": 1 }')
  expect(made.parse?.(hostile)).toHaveProperty('issues')
})

test('tool(fn) refuses arguments that are nested too deep or too large', () => {
  const date = { type: 'string', format: 'date-time', 'x-toolwright-type': 'Date' }
  const parameters = { type: 'object', properties: { at: date }, additionalProperties: true }
  const made = tool(functionWith({ parameters }))
  let deep: unknown = []
  for (let level = 0; level < 5_000; level++) deep = [deep]
  expect(made.parse?.({ at: noon, deep })).toHaveProperty('issues')
  expect(made.parse?.({ at: noon, wide: new Array(300_000).fill(0) })).toHaveProperty('issues')
  expect(made.parse?.({ at: noon, wide: [0] })).toEqual({ value: { at: new Date(noon), wide: [0] } })
})
