import { describe, expect, expectTypeOf, test } from 'vitest'
import type { ToolContext } from '../context/context.ts'
import { tool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { cached } from './cached.ts'
import { createContext, toolCaller } from './call-tool.test-kit.ts'
import { concurrency } from './concurrency.ts'
import { longRunning } from './long-running.ts'
import { rateLimit } from './rate-limit.ts'
import { redact } from './redact.ts'
import { retry } from './retry.ts'
import { timeout } from './timeout.ts'

const callTool = toolCaller(({ tool, args, context }) => tool.run(args, context))

type Policy = <T extends Tool>(tool: T) => T
const policies: [string, Policy][] = [
  ['timeout', (tool) => timeout(tool, 1000)],
  ['cached', (tool) => cached(tool)],
  ['retry', (tool) => retry(tool, { attempts: 3 })],
  ['rateLimit', (tool) => rateLimit(tool, { max: 5, perMs: 1000 })],
  ['concurrency', (tool) => concurrency(tool, 1)],
  ['redact', (tool) => redact(tool, ['secret'])],
  ['longRunning', (tool) => longRunning(tool)],
]
const pairs = policies.flatMap(([a, outer]) => policies.map(([b, inner]) => [a, b, outer, inner] as const))

const MARK = Symbol('mark')

/** A tool with private state, a member of its own and a symbol property. */
class Counter {
  #runs = 0
  readonly name = 'count'
  readonly description = 'Counts'
  readonly effect = 'none'
  readonly [MARK] = 'marked'
  readonly #declared = { name: 'count', description: 'Counts', parametersJsonSchema: { type: 'object' } }
  declaration() {
    return this.#declared
  }
  run(_args: { by?: number }, _context: ToolContext) {
    return { runs: ++this.#runs, secret: 'x' }
  }
  requiresConfirmation = (): boolean => this.#runs > 0
  get runs() {
    return this.#runs
  }
  reset() {
    this.#runs = 0
  }
}

describe.each(pairs)('%s around %s', (a, b, outer, inner) => {
  test('forwards the members of the tool and runs its body once', async () => {
    const original = new Counter()
    const made = outer(inner(original))
    expectTypeOf(made).toEqualTypeOf<Counter>()
    const isRedacted = a === 'redact' || b === 'redact'
    expect(await callTool(made, {}, createContext())).toEqual({ runs: 1, secret: isRedacted ? '[redacted]' : 'x' })
    expect(original.runs).toBe(1)
    expect(made.runs).toBe(1)
    expect(made.name).toBe('count')
    expect(made.declaration()).toMatchObject({ name: 'count', parametersJsonSchema: { type: 'object' } })
    expect(made.declaration()).toBe(made.declaration())
    expect(made[MARK]).toBe('marked')
    expect(made.effect).toBe('none')
    expect(made.requiresConfirmation()).toBe(true)
    expect(made).toBeInstanceOf(Counter)
    made.reset()
    expect(original.runs).toBe(0)
  })
})

test('nested policies run from the outermost to the innermost and do not change the inner tool', async () => {
  const original = tool({ name: 't', description: 'd', effect: 'none', run: () => ({ a: 'x' }) })
  const inner = redact(original, ['a'])
  const outer = cached(inner)
  expect(original.middleware).toBeUndefined()
  expect(inner.middleware).toHaveLength(1)
  expect(outer.middleware?.[1]).toBe(inner.middleware?.[0])
})

describe('timeout()', () => {
  const made = tool({ name: 't', description: 'd', run: () => 1 })
  test('replaces the default timeout, and the shortest of several timeouts counts', () => {
    expect(timeout(made, 60_000).timeoutMs).toBe(60_000)
    expect(timeout(timeout(made, 100), 500).timeoutMs).toBe(100)
    expect(timeout(timeout(made, 500), 100).timeoutMs).toBe(100)
    expect(timeout(cached(timeout(made, 100)), 500).timeoutMs).toBe(100)
  })
  test('rejects invalid times', () => {
    for (const ms of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5' as never])
      expect(() => timeout(made, ms)).toThrow(/timeout\(\) of tool "t"/)
    expect(() => timeout(5 as never, 5)).toThrow(/takes a tool/)
  })
})

test('longRunning() adds its note to the description only once', () => {
  const made = longRunning(longRunning(tool({ name: 't', description: 'Starts a job.', run: () => 1 })))
  expect(made.isLongRunning).toBe(true)
  expect(made.declaration()?.description).toBe(
    tool({ name: 't', description: 'Starts a job.', isLongRunning: true, run: () => 1 }).declaration()?.description,
  )
  expect(made.declaration()?.description).toMatch(/^Starts a job\.\n\n.*do not call the tool again/)
})
