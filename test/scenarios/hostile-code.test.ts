// Code, and executors of code, that call tools as nobody should.
import { type CodeExecutor, type CodeRequest, LlmAgent } from 'toolwright'
import { quickjs } from 'toolwright/code'
import { scriptedModel, strictModel } from 'toolwright/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { finals, refundTool, runnerOf, say, stored, stores, where } from './approvals-kit.ts'

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

/** A runner whose model writes this code, then says "done", then "more". */
function coding(store: Parameters<typeof runnerOf>[0], codeExecutor: CodeExecutor, code = 'x') {
  const { refund, run } = refundTool({ requiresConfirmation: false })
  const model = scriptedModel([{ parts: [{ executableCode: { language: 'JAVASCRIPT', code } }] }, 'done', 'more'])
  const agent = new LlmAgent({ name: 'agent', model: strictModel(model), tools: [refund], codeExecutor })
  return { runner: runnerOf(store, agent), run }
}

/** An executor of one's own that does this with the tools. */
function executor(execute: (callTool: Required<CodeRequest>['callTool']) => Promise<string>): CodeExecutor {
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

describe.each(stores)('%s', (_name, newStore) => {
  test.each<[string, CodeExecutor, string]>([
    ['code that', quickjs(), 'tools.refund({ amount: "x" }); tools.refund({ amount: 5 }); 5'],
    [
      'an executor that',
      executor(async (callTool) => {
        void callTool('refund', { amount: 'x' })
        void callTool('refund', { amount: 5 })
        return 'x'
      }),
      'x',
    ],
  ])('%s does not wait for what it called leaves no rejection unheard', timeout, async (_who, codeExecutor, code) => {
    const store = newStore()
    const { runner, run } = coding(store, codeExecutor, code)
    expect((await say(runner)).text).toBe('done')
    await new Promise((resolve) => setImmediate(resolve)) // by then node has told of unheard ones
    expect(rejections).toEqual([])
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    const answers = Object.values(finals(await stored(store))).map((one) => one.errorCode ?? one.refunded)
    expect(answers).toEqual(expect.arrayContaining(['INVALID_ARGS', 5]))
  })

  test('code that calls with arguments nested deep is told so, and the session can be read', timeout, async () => {
    const store = newStore()
    const code = `let a = {}; for (let i = 0; i < 3000; i++) a = { a };
      try { await tools.refund({ amount: a }) } catch (e) { console.log(String(e)) }`
    const { runner, run } = coding(store, quickjs(), code)
    const { text, events } = await say(runner)
    expect(text).toBe('done')
    expect(JSON.stringify(events)).toContain('nested deeper than')
    expect(run).not.toHaveBeenCalled()
    expect(await stored(store)).toHaveLength(events.length + 1)
    expect((await say(runner, 'again')).text).toBe('more')
  })

  const cycle: { amount?: object } = {}
  cycle.amount = cycle
  test.each<[string, object, boolean]>([
    ['a bigint', { amount: 5n }, false],
    ['a cycle', cycle, false],
    ['something deep', { amount: nested(3000) }, false],
    ['a date', { amount: new Date(0) }, false],
    ['no number', { amount: Number.NaN }, false],
    ['a function beside a number', { amount: 5, also: () => 1 }, true],
    ['a number', { amount: 5 }, true],
  ])('an executor that calls with %s is answered, and the session goes on', timeout, async (_what, args, isRun) => {
    const store = newStore()
    const codeExecutor = executor(async (callTool) =>
      callTool('refund', args as never).then(
        () => 'refunded',
        ({ code }) => code,
      ),
    )
    const { runner, run } = coding(store, codeExecutor)
    const { text, events } = await say(runner)
    expect(text).toBe('done')
    expect(run).toHaveBeenCalledTimes(isRun ? 1 : 0)
    expect(JSON.stringify(events)).toContain(isRun ? 'refunded' : 'INVALID_ARGS')
    expect(rejections).toEqual([])
    expect((await store.getSession({ appName: 'app', ...where }))?.events).toHaveLength(events.length + 1)
    expect((await say(runner, 'again')).text).toBe('more')
  })
})
