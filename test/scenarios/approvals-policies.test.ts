// Gates apply to every kind of tool and under every policy, because the dispatcher checks them.
import {
  agentTool,
  approve,
  type CodeExecutor,
  cached,
  concurrency,
  confirm,
  deny,
  LlmAgent,
  longRunning,
  prefixTools,
  rateLimit,
  redact,
  respond,
  retry,
  StaticToolset,
  type Tool,
  timeout,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import {
  answerPart,
  finalResponses,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
} from './approvals-kit.ts'
import { plainTool } from './kit.ts'

const layers: [string, (tool: Tool) => Tool][] = [
  ['timeout', (one) => timeout(one, 1_000)],
  ['cached', (one) => cached(one)],
  ['retry', (one) => retry(one, { attempts: 2 })],
  ['rateLimit', (one) => rateLimit(one, { max: 10, perMs: 1_000 })],
  ['concurrency', (one) => concurrency(one, 1)],
  ['redact', (one) => redact(one, ['secret'])],
]

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test.each(layers)(
    'requests a confirmation inside and outside of %s, and runs once after the approval',
    async (_name, wrap) => {
      for (const make of [(one: Tool) => wrap(confirm(one, 'Go?')), (one: Tool) => confirm(wrap(one), 'Go?')]) {
        const run = vi.fn(() => ({ ok: 1 }))
        const tools = [make(plainTool('act', run))]
        const { runner } = startProcess(newStore(), { tools, steps: [{ calls: [{ id: 'c1', name: 'act' }] }, 'done'] })
        const { pending } = await sendMessage(runner)
        expect(run).not.toHaveBeenCalled()
        expect(requestFor(pending).hint).toBe('Go?')
        const { events } = await sendMessage(runner, [approve(requestFor(pending))])
        expect(run).toHaveBeenCalledOnce()
        expect(finalResponses(events).c1).toEqual({ ok: 1 })
      }
    },
  )

  test.each(layers)(
    'pauses for an input requested by a body inside %s and does not record a result',
    async (_name, wrap) => {
      const run = vi.fn((_args, context) => ({
        completion: context.requestInput({ key: 'k', message: 'k?' }) ?? 'nothing',
      }))
      const tools = [wrap(plainTool('act', run))]
      const { runner } = startProcess(newStore(), { tools, steps: [{ calls: [{ id: 'c1', name: 'act' }] }, 'done'] })
      const { pending } = await sendMessage(runner)
      const { events } = await sendMessage(runner, [respond(requestFor(pending), 'K')])
      expect(finalResponses(events).c1).toEqual({ completion: 'K' })
      expect(run).toHaveBeenCalledTimes(2)
    },
  )

  test('requests a confirmation when any nested gate requires one', async () => {
    const { refund } = refundTool()
    const outer = confirm(refund, { when: () => false })
    const both = confirm(
      confirm(
        plainTool('act', () => 1),
        { when: () => true },
      ),
      { when: () => false },
    )
    const neither = confirm(
      confirm(
        plainTool('free', () => 1),
        { when: () => false },
      ),
      { when: () => false },
    )
    const steps = [{ calls: [...(refundCalls() ?? []), { id: 'a1', name: 'act' }, { id: 'f1', name: 'free' }] }]
    const { pending, events } = await sendMessage(
      startProcess(newStore(), { tools: [outer, both, neither], steps }).runner,
    )
    expect(pending.map(({ functionCallId }) => functionCallId)).toEqual(['c1', 'a1'])
    expect(finalResponses(events)).toEqual({ f1: { result: 1 } })
  })

  test('decides by the arguments in when() and shows them in the hint', async () => {
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const gated = confirm(refund, {
      hint: ({ amount }) => `Refund ${amount}?`,
      when: ({ amount }) => Number(amount) > 100,
    })
    const { runner } = startProcess(newStore(), { tools: [gated], steps: [refundReply(50, 500), 'done'] })
    const { pending } = await sendMessage(runner)
    expect(requestFor(pending).hint).toBe('Refund 500?')
    expect(run.mock.calls).toEqual([[{ amount: 50 }]])
  })

  const kinds: [string, (run: () => unknown) => Tool, string][] = [
    ['a tool built without tool()', (run) => plainTool('act', run, { requiresConfirmation: true }), 'act'],
    ['a long-running tool', (run) => confirm(longRunning(plainTool('act', run))), 'act'],
    [
      'a generator',
      (run) =>
        confirm(
          plainTool('act', function* () {
            yield 1
            return run()
          }),
        ),
      'act',
    ],
  ]
  test.each(kinds)(
    'does not run %s after a denial, and runs it after an approval [DG-03]',
    async (_name, make, name) => {
      for (const [reply, times] of [
        [deny, 0],
        [approve, 1],
      ] as const) {
        const run = vi.fn(() => ({ ok: 1 }))
        const { runner } = startProcess(newStore(), {
          tools: [make(run)],
          steps: [{ calls: [{ id: 'c1', name }] }, 'done'],
        })
        const { pending } = await sendMessage(runner)
        const answered = await sendMessage(runner, [reply(requestFor(pending))])
        expect(run).toHaveBeenCalledTimes(times)
        if (times && answered.pending.length) {
          expect((await sendMessage(runner, [answerPart('c1', { late: 1 }, name)])).text).toBe('done')
        } else expect(answered.text).toBe('done')
      }
    },
  )

  test('requests a confirmation for a tool of a prefixed toolset and runs it in another process', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const tools = [prefixTools(new StaticToolset([refund]), 'shop_')]
    const steps = [{ calls: [{ id: 'c1', name: 'shop_refund', args: { amount: 5 } }] }]
    const { pending } = await sendMessage(startProcess(store, { tools, steps }).runner)
    expect(run).not.toHaveBeenCalled()
    await sendMessage(startProcess(store, { tools, steps: ['done'] }).runner, [approve(requestFor(pending))])
    expect(run).toHaveBeenCalledOnce()
  })

  test('starts an agent tool only after its approval, then pauses for requests inside it [DG-03]', async () => {
    for (const isYes of [false, true]) {
      const store = newStore()
      const { refund, run } = refundTool()
      const inner = scriptedModel([refundReply(5), 'paid'])
      const helper = confirm(agentTool(new LlmAgent({ name: 'helper', model: inner, tools: [refund] })), 'May it help?')
      const steps = [{ calls: [{ id: 'h1', name: 'helper', args: { request: 'x' } }] }, 'done']
      const { runner } = startProcess(store, { tools: [helper], steps })
      const first = await sendMessage(runner)
      expect(inner.requests).toHaveLength(0)
      expect(requestFor(first.pending)).toMatchObject({ tool: 'helper', hint: 'May it help?' })
      const second = await sendMessage(runner, [(isYes ? approve : deny)(requestFor(first.pending))])
      expect(inner.requests).toHaveLength(isYes ? 1 : 0)
      if (!isYes) continue
      expect(requestFor(second.pending)).toMatchObject({ tool: 'refund', agent: 'helper' })
      expect((await sendMessage(runner, [approve(requestFor(second.pending))])).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
    }
  })

  describe('code execution', () => {
    const executor = (execute: CodeExecutor['execute'], requiresConfirmation: boolean): CodeExecutor => ({
      languages: ['js'],
      callsTools: true,
      requiresConfirmation,
      execute,
    })
    const steps = ['```js\nwork()\n```', 'done']

    test('runs code only after an approval [DG-03]', async () => {
      for (const isYes of [false, true]) {
        const execute = vi.fn(async () => ({ outcome: 'OK', output: 'ran' }) as const)
        const { runner } = startProcess(newStore(), { steps, agent: { codeExecutor: executor(execute, true) } })
        const { pending } = await sendMessage(runner)
        expect(execute).not.toHaveBeenCalled()
        expect(requestFor(pending).args).toMatchObject({ code: expect.stringContaining('work()') })
        expect((await sendMessage(runner, [(isYes ? approve : deny)(requestFor(pending))])).text).toBe('done')
        expect(execute).toHaveBeenCalledTimes(isYes ? 1 : 0)
      }
    })

    test('pauses code at a gated tool call and does not repeat its earlier calls [DG-19]', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      let looks = 0
      const look = plainTool('look', () => ({ looks: ++looks }))
      const got: unknown[] = []
      const execute: CodeExecutor['execute'] = async ({ callTool }) => {
        got.push(await callTool?.('look', {}))
        got.push(await callTool?.('refund', { amount: 5 }))
        return { outcome: 'OK', output: 'ran' }
      }
      const agent = { codeExecutor: executor(execute, false) }
      const { pending } = await sendMessage(startProcess(store, { tools: [refund, look], steps, agent }).runner)
      expect(run).not.toHaveBeenCalled()
      const { runner } = startProcess(store, { tools: [refund, look], steps: ['done'], agent })
      expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
      expect(got).toEqual([{ looks: 1 }, { looks: 1 }, { refunded: 5 }])
      expect(run).toHaveBeenCalledOnce()
    })

    test('records the result of a concurrent call from code before the run pauses', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      let release: (() => void) | undefined
      const slow = plainTool('slow', () => new Promise((resolve) => (release = () => resolve({ slow: 1 }))))
      const execute: CodeExecutor['execute'] = async ({ callTool }) => {
        const both = Promise.all([callTool?.('slow', {}), callTool?.('refund', { amount: 5 })])
        return { outcome: 'OK', output: JSON.stringify(await both) }
      }
      const agent = { codeExecutor: executor(execute, false) }
      const completion = sendMessage(startProcess(store, { tools: [refund, slow], steps, agent }).runner)
      await vi.waitUntil(async () => JSON.stringify(await storedEvents(store)).includes('adk_request_confirmation'))
      release?.()
      const { pending } = await completion
      expect(JSON.stringify(await storedEvents(store))).toContain('"slow":1')
      const { runner } = startProcess(store, { tools: [refund, slow], steps: ['done'], agent })
      expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
    })
  })

  test('requests a confirmation for each call of a cached tool, and answers the second call from the cache', async () => {
    const run = vi.fn(() => ({ ok: 1 }))
    const tools = [cached(confirm(tool({ name: 'refund', description: 'Refund', run })))]
    const { runner } = startProcess(newStore(), {
      tools,
      steps: [{ calls: [{ id: 'c1', name: 'refund' }] }, { calls: [{ id: 'c2', name: 'refund' }] }, 'done'],
    })
    const first = await sendMessage(runner)
    const second = await sendMessage(runner, [approve(requestFor(first.pending))])
    expect(requestFor(second.pending).functionCallId).toBe('c2')
    expect((await sendMessage(runner, [approve(requestFor(second.pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
  })
})

function refundCalls() {
  return [{ id: 'c1', name: 'refund', args: { amount: 5 } }]
}
