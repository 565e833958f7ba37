import { expect, test } from 'vitest'
import type { ToolContext } from '../../context/context.ts'
import { createBody } from './call-function.ts'
import type { InferredParameter } from './inferred-function.ts'

const context = Object.freeze({}) as ToolContext
const receive = (...given: unknown[]): unknown[] => given
const run = (parameters: readonly InferredParameter[], args: unknown): unknown =>
  createBody(receive, parameters)(args, context)
const proto = (json: string): unknown => JSON.parse(json)

const all = { allArguments: true } as const
const ctx = { context: true } as const
const a = { argument: 'a' } as const
const b = { argument: 'b' } as const

test.each<[string, readonly InferredParameter[], unknown, unknown[]]>([
  ['nothing to a function without parameters', [], { a: 1 }, []],
  ['all arguments to an object parameter', [all], { a: 1 }, [{ a: 1 }]],
  ['all arguments and the context', [all, ctx], { a: 1 }, [{ a: 1 }, context]],
  ['the context before all arguments', [ctx, all], { a: 1 }, [context, { a: 1 }]],
  ['all arguments between two contexts', [ctx, all, ctx], { a: 1 }, [context, { a: 1 }, context]],
  ['only the context', [ctx], { a: 1 }, [context]],
  ['arguments in the order of the parameters', [b, a], { a: 1, b: 2 }, [2, 1]],
  ['the context first', [ctx, a, b], { a: 1, b: 2 }, [context, 1, 2]],
  ['the context in the middle', [a, ctx, b], { a: 1, b: 2 }, [1, context, 2]],
  ['the context last', [a, b, ctx], { a: 1, b: 2 }, [1, 2, context]],
  ['undefined for a missing argument', [a, b, ctx], { b: 2 }, [undefined, 2, context]],
  ['null as null', [a], { a: null }, [null]],
  ['the items of a rest argument one by one', [a, { argument: 'r', rest: true }], { a: 1, r: [2, 3] }, [1, 2, 3]],
  ['no items for a missing rest argument', [a, { argument: 'r', rest: true }], { a: 1 }, [1]],
  ['a list as one value', [a], { a: [1, 2] }, [[1, 2]]],
  ['all arguments and an argument by name', [all, a], { a: 1 }, [{ a: 1 }, 1]],
])('createBody() passes %s', (_, parameters, args, expected) => {
  const given = run(parameters, args) as unknown[]
  expect(given).toEqual(expected)
  for (const [at, value] of expected.entries()) if (value === context) expect(given[at]).toBe(context)
})

test('createBody() leaves defaults to the function', () => {
  const greet = (name = 'you', greeting = `Hello ${name}`): string => greeting
  expect(createBody(greet, [{ argument: 'name' }, { argument: 'greeting' }])({}, context)).toBe('Hello you')
})

test('createBody() takes no inherited member for an argument', () => {
  const named = ['constructor', 'toString', '__proto__'].map((argument) => ({ argument }))
  expect(run(named, {})).toEqual([undefined, undefined, undefined])
})

test('createBody() passes arguments with the names of members of Object.prototype', () => {
  const args = proto('{ "constructor": 1, "toString": 2, "__proto__": 3 }')
  const named = ['constructor', 'toString', '__proto__'].map((argument) => ({ argument }))
  expect(run(named, args)).toEqual([1, 2, 3])
})

test.each([undefined, null, 'text', ['list']])('createBody() passes undefined for arguments of %j', (args) => {
  expect(run([a], args)).toEqual([undefined])
})

test('createBody() calls the function without a this', () => {
  const seen: unknown[] = []
  function remember(this: unknown): void {
    seen.push(this)
  }
  for (const parameters of [[], [all], [all, ctx], [a]]) createBody(remember, parameters)({}, context)
  expect(seen).toEqual([undefined, undefined, undefined, undefined])
})

test('createBody() returns what the function returns, and throws what it throws', async () => {
  const failing = (): never => {
    throw new Error('no')
  }
  expect(() => createBody(failing, [])({}, context)).toThrow('no')
  await expect(createBody(async () => 5, [])({}, context)).resolves.toBe(5)
})
