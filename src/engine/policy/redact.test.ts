import { describe, expect, test } from 'vitest'
import { tool } from '../tool/define-tool.ts'
import { cached } from './cached.ts'
import { toolCaller } from './call-tool.test-kit.ts'
import { maskArgs, redact } from './redact.ts'

const callTool = toolCaller(({ tool, args, context }) => tool.run(args, context))

const of = (result: unknown) => tool({ name: 't', description: 'd', run: () => result })
const X = '[redacted]'

describe('redact()', () => {
  test.each<[string, unknown, unknown]>([
    ['ssn', { ssn: '1', name: 'Ann' }, { ssn: X, name: 'Ann' }],
    ['customer.ssn', { customer: { ssn: { a: 1 } } }, { customer: { ssn: X } }],
    ['items[].token', { items: [{ token: 't' }, { id: 1 }] }, { items: [{ token: X }, { id: 1 }] }],
    ['items.token', { items: [{ token: 't' }] }, { items: [{ token: X }] }],
    ['items[1]', { items: ['a', 'b'] }, { items: ['a', X] }],
    ['*.password', { a: { password: 'p' }, b: { id: 1 } }, { a: { password: X }, b: { id: 1 } }],
    ['users.*.key', { users: { ann: { key: 'k' } } }, { users: { ann: { key: X } } }],
    ['[].key', [{ key: 'k' }], [{ key: X }]],
    ['*', { a: 1, b: [2] }, { a: X, b: X }],
    ['m[][]', { m: [[1], [2]] }, { m: [[X], [X]] }],
    ['none', { a: null }, { a: null }],
    ['a', 'text', 'text'],
    ['a', undefined, undefined],
  ])('redacts the path %s of %j', async (path, result, shown) => {
    expect(await callTool(redact(of(result), [path]))).toEqual(shown)
  })

  test('does not change the object that the body returned', async () => {
    const own = { ssn: '1', nested: { a: 1 } }
    await callTool(redact(of(own), ['ssn']))
    expect(own.ssn).toBe('1')
  })

  test('redacts class instances', async () => {
    class Account {
      #secret = 's3cret'
      toJSON() {
        return { secret: this.#secret, id: 1 }
      }
    }
    expect(await callTool(redact(of({ account: new Account() }), ['account.secret']))).toEqual({
      account: { secret: X, id: 1 },
    })
  })

  test('keeps an own __proto__ property as data', async () => {
    const result = JSON.parse('{"__proto__":{"polluted":1},"ssn":"1"}')
    const shown = (await callTool(redact(of(result), ['ssn']))) as object
    expect(JSON.stringify(shown)).toBe('{"__proto__":{"polluted":1},"ssn":"[redacted]"}')
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype)
  })
})

test('redact() redacts arguments for callbacks but not for the body, and combines nested policies', async () => {
  const echo = tool({
    name: 'login',
    description: 'd',
    parameters: { type: 'object', properties: { user: { type: 'string' }, password: { type: 'string' } } },
    run: (args) => args,
  })
  const made = redact(cached(redact(echo, { args: ['password'] })), { args: ['user'] })
  const args = { user: 'ann', password: 'p', other: 1 }
  expect(await callTool(made, args)).toEqual(args)
  expect(maskArgs(made, args)).toEqual({ user: X, password: X, other: 1 })
  expect(maskArgs(echo, args)).toBe(args)
})

test('redact() rejects invalid paths', () => {
  for (const path of ['', 'a..b', '.a', 'a[', 'a[x]', 'a.', 5 as never])
    expect(() => redact(of(1), [path])).toThrow(/path/)
  expect(() => redact(of(1), [])).toThrow(/at least one path/)
  expect(() => redact(of(1), 'ssn' as never)).toThrow(/redact/)
})

describe('redact() neither shows the value nor fails the call', () => {
  const SECRET = 's3cret'
  const cyclic: { [key: string]: unknown } = { ssn: SECRET, name: 'Ann' }
  cyclic.self = cyclic
  cyclic.list = [cyclic, { owner: cyclic }]
  class Account {
    ssn = SECRET
    id = 7n
  }
  test.each<[string, unknown, unknown]>([
    [
      'an object that contains itself',
      cyclic,
      { ssn: X, name: 'Ann', self: '[circular]', list: ['[circular]', { owner: '[circular]' }] },
    ],
    ['a toJSON that returns the secret', { toJSON: () => ({ ssn: SECRET }) }, { ssn: X }],
    [
      'a toJSON that throws',
      {
        ssn: SECRET,
        toJSON: () => {
          throw new Error(SECRET)
        },
      },
      '[unreadable]',
    ],
    ['a hidden toJSON', Object.defineProperty({ a: 1 }, 'toJSON', { value: () => ({ ssn: SECRET }) }), { ssn: X }],
    ['an inherited toJSON', Object.create({ toJSON: () => ({ ssn: SECRET }) }), { ssn: X }],
    ['a class instance with a bigint', new Account(), { ssn: X, id: '7' }],
    [
      'a Map',
      new Map<string, unknown>([
        ['ssn', SECRET],
        ['n', 1n],
      ]),
      { ssn: X, n: '1' },
    ],
    ['a Map with other keys', new Map([[1, { ssn: SECRET }]]), [[1, { ssn: X }]]],
    ['a Set', new Set([{ ssn: SECRET }]), [{ ssn: X }]],
    [
      'a getter that throws',
      {
        ssn: SECRET,
        get other() {
          throw new Error('x')
        },
      },
      '[unreadable]',
    ],
    [
      'a proxy that throws',
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error('x')
          },
        },
      ),
      '[unreadable]',
    ],
    ['a result with a date', { at: new Date(0), ssn: SECRET }, { at: '1970-01-01T00:00:00.000Z', ssn: X }],
    ['a list with holes', Object.assign(new Array(2), { 1: { ssn: SECRET } }), [null, { ssn: X }]],
  ])('for %s', async (_, result, shown) => {
    expect(await callTool(redact(of(result), ['ssn']))).toEqual(shown)
    expect(maskArgs(redact(of(1), { args: ['ssn'] }), result)).toEqual(shown)
  })

  test('and calls toJSON once', async () => {
    let times = 0
    const fickle = { toJSON: () => (times++ === 0 ? { ssn: SECRET } : { other: SECRET }) }
    expect(await callTool(redact(of(fickle), ['ssn']))).toEqual({ ssn: X })
    expect(times).toBe(1)
  })

  test('and returns values that are not objects unchanged', async () => {
    for (const value of ['text', 5n, true, null, undefined])
      expect(await callTool(redact(of(value), ['ssn']))).toBe(value)
  })
})
