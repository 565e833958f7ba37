// Code and code executors that misuse tool calls.
import { type CodeExecutor, type CodeRequest, LlmAgent } from 'toolwright'
import { quickjs } from 'toolwright/code'
import { scriptedModel, strictModel } from 'toolwright/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { finalResponses, refundTool, runnerOf, sendMessage, storedEvents, stores, where } from './approvals-kit.ts'

const timeout = { timeout: 10_000 }
const rejections: unknown[] = []
const onRejection = (reason: unknown): void => void rejections.push(reason)

beforeEach(() => {
  rejections.length = 0
  process.prependListener('unhandledRejection', onRejection)
})
afterEach(() => {
  process.removeListener('unhandledRejection', onRejection)
})

/** A runner whose model replies with this code, then with "done", then with "more". */
function createCodeRunner(store: Parameters<typeof runnerOf>[0], codeExecutor: CodeExecutor, code = 'x') {
  const { refund, run } = refundTool({ requiresConfirmation: false })
  const model = scriptedModel([{ parts: [{ executableCode: { language: 'JAVASCRIPT', code } }] }, 'done', 'more'])
  const agent = new LlmAgent({ name: 'agent', model: strictModel(model), tools: [refund], codeExecutor })
  return { runner: runnerOf(store, agent), run }
}

/** A custom executor whose code is the function `execute`. */
function createExecutor(execute: (callTool: Required<CodeRequest>['callTool']) => Promise<string>): CodeExecutor {
  return {
    languages: ['javascript'],
    callsTools: true,
    execute: async ({ callTool }) => ({ outcome: 'OK', output: callTool ? await execute(callTool) : 'no tools' }),
  }
}

function nested(levels: number): object {
  let deep: object = {}
  for (let n = 0; n < levels; n++) deep = { deep }
  return deep
}

describe.each(stores)('hostile code with sessions %s', (_name, newStore) => {
  test.each<[string, CodeExecutor, string]>([
    ['code', quickjs(), 'tools.refund({ amount: "x" }); tools.refund({ amount: 5 }); 5'],
    [
      'an executor',
      createExecutor(async (callTool) => {
        void callTool('refund', { amount: 'x' })
        void callTool('refund', { amount: 5 })
        return 'x'
      }),
      'x',
    ],
  ])(
    '%s that does not await its tool calls causes no unhandled rejection',
    timeout,
    async (_caller, codeExecutor, code) => {
      const store = newStore()
      const { runner, run } = createCodeRunner(store, codeExecutor, code)
      expect((await sendMessage(runner)).text).toBe('done')
      await new Promise((resolve) => setImmediate(resolve)) // by then Node has reported unhandled rejections
      expect(rejections).toEqual([])
      expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
      const results = Object.values(finalResponses(await storedEvents(store))).map(
        ({ errorCode, refunded }) => errorCode ?? refunded,
      )
      expect(results).toEqual(expect.arrayContaining(['INVALID_ARGS', 5]))
    },
  )

  test('code that passes deeply nested arguments gets an error, and the session stays readable', timeout, async () => {
    const store = newStore()
    const code = `let a = {}; for (let i = 0; i < 3000; i++) a = { a };
      try { await tools.refund({ amount: a }) } catch (e) { console.log(String(e)) }`
    const { runner, run } = createCodeRunner(store, quickjs(), code)
    const { text, events } = await sendMessage(runner)
    expect(text).toBe('done')
    expect(JSON.stringify(events)).toContain('nested deeper than')
    expect(run).not.toHaveBeenCalled()
    expect(await storedEvents(store)).toHaveLength(events.length + 1)
    expect((await sendMessage(runner, 'again')).text).toBe('more')
  })

  const cycle: { amount?: object } = {}
  cycle.amount = cycle
  test.each<[string, object, boolean]>([
    ['a bigint', { amount: 5n }, false],
    ['a cycle', cycle, false],
    ['a deeply nested object', { amount: nested(3000) }, false],
    ['a date', { amount: new Date(0) }, false],
    ['NaN', { amount: Number.NaN }, false],
    ['a function beside a number', { amount: 5, also: () => 1 }, true],
    ['a number', { amount: 5 }, true],
  ])(
    'an executor that passes %s gets a result or an error, and the session stays usable',
    timeout,
    async (_case, args, isRun) => {
      const store = newStore()
      const codeExecutor = createExecutor(async (callTool) =>
        callTool('refund', args as never).then(
          () => 'refunded',
          ({ code }) => code,
        ),
      )
      const { runner, run } = createCodeRunner(store, codeExecutor)
      const { text, events } = await sendMessage(runner)
      expect(text).toBe('done')
      expect(run).toHaveBeenCalledTimes(isRun ? 1 : 0)
      expect(JSON.stringify(events)).toContain(isRun ? 'refunded' : 'INVALID_ARGS')
      expect(rejections).toEqual([])
      expect((await store.getSession({ appName: 'app', ...where }))?.events).toHaveLength(events.length + 1)
      expect((await sendMessage(runner, 'again')).text).toBe('more')
    },
  )
})
