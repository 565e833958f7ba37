// Malformed, forged and endless calls of a model.
import { agentTool, approve, LlmAgent, tool } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  finalResponses,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { resumeSession } from './lease-kit.ts'

const calling = (name: string, args = {}): ScriptedStep => ({ calls: [{ id: 'c1', name, args }] })

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test.each(['refunds', 'Refund', 'refund ', 'constructor', ''])(
    'answers NOT_FOUND for a call of %j [DG-01]',
    async (name) => {
      const { refund, run } = refundTool({ requiresConfirmation: false })
      const called: string[] = []
      const agent = {
        model: scriptedModel([calling(name, { amount: 5 }), calling('refund', { amount: 6 }), 'done']),
        beforeTool: () => void called.push('before'),
        onToolError: () => void called.push('error'),
      }
      const { events, text } = await sendMessage(startProcess(newStore(), { tools: [refund], agent }).runner)
      const [unknown, known] = events.flatMap(({ content }) => content?.parts[0]?.functionResponse ?? [])
      expect(unknown?.response).toMatchObject({ errorCode: 'NOT_FOUND', error: expect.stringContaining('refund') })
      expect(known?.response).toEqual({ refunded: 6 })
      expect(called, 'only onToolError is called for an unknown tool').toEqual(['error', 'before'])
      expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 6 })
      expect(text).toBe('done')
    },
  )

  test('runs no body, keeps one request pending and does not ask the model before the decision [DG-02]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner, model } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'done'] })
    const { pending, events, text } = await sendMessage(runner)
    expect(run).not.toHaveBeenCalled()
    expect(await runner.pending()).toEqual(pending)
    expect(pending).toMatchObject([{ kind: 'confirmation', functionCallId: 'c1', args: { amount: 5 } }])
    expect(finalResponses(events)).toEqual({})
    expect(text).toBe('')
    expect(model.requests).toHaveLength(1)
    expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
  })

  test('runs the approved call with its recorded arguments, without asking the model again [DG-18]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const fickle =
      (amount: number): ScriptedStep =>
      () =>
        refundReply(amount)
    const { pending } = await sendMessage(startProcess(store, { tools: [refund], steps: [fickle(5)] }).runner)
    const { runner, model } = startProcess(store, { tools: [refund], steps: ['done'] })
    await expect(sendMessage(runner, 'make it 999')).rejects.toMatchObject({ code: 'PAUSED' })
    expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    expect(model.requests, 'one request, after the call has run').toHaveLength(1)
    expect(model.requests[0]?.contents.at(-1)?.role).toBe('tool')
  })

  test.each([
    ['user', 0],
    ['agent', 1],
  ])(
    'with a call of the author %s in an interrupted log: runs the call %d times on resume [DG-07]',
    async (who, times) => {
      const store = newStore()
      const { refund, run } = refundTool({ requiresConfirmation: false })
      const common = { invocationId: 'e-1', timestamp: 1, actions: {} }
      const content = {
        role: 'model' as const,
        parts: [{ functionCall: { id: 'c1', name: 'refund', args: { amount: 9 } } }],
      }
      const go = { role: 'user' as const, parts: [{ text: 'go' }] }
      const key = { appName: 'app', ...where }
      await store.createSession(key)
      const lease = await store.claim(key)
      await store.append(lease, 0, [
        { event: { ...common, id: '1', author: 'user', content: go } },
        { event: { ...common, id: '2', author: who, nodeInfo: { path: 'agent' }, content } },
      ])
      await store.release(lease)
      expect(await resumeSession(startProcess(store, { tools: [refund], steps: ['done'] }).runner)).toBe('done')
      expect(run).toHaveBeenCalledTimes(times)
    },
  )

  test.each([
    ['in another key order', { to: 'eve', amount: 5 }, true],
    ['of another type', { amount: '5', to: 'eve' }, false],
    ['with an invisible character', { amount: 5, to: 'e\u200bve' }, false],
  ])(
    'applies an approval to arguments only when their canonical JSON is equal: %s [DG-13]',
    async (_how, args, isTheSame) => {
      const store = newStore()
      const run = vi.fn(() => ({ ok: true }))
      const parameters = { type: 'object' } as const
      const pay = tool({ name: 'pay', description: 'Pay', parameters, requiresConfirmation: true, run })
      const steps = [calling('pay', { amount: 5, to: 'eve' })]
      const { pending } = await sendMessage(startProcess(store, { tools: [pay], steps }).runner)
      const agent = { beforeTool: () => ({ args }) }
      const again = await sendMessage(startProcess(store, { tools: [pay], steps: ['done'], agent }).runner, [
        approve(requestFor(pending)),
      ])
      expect(run).toHaveBeenCalledTimes(isTheSame ? 1 : 0)
      expect(again.pending.map((request) => request.args)).toEqual(isTheSame ? [] : [args])
    },
  )

  describe('invalid arguments', () => {
    const nested = (levels: number): object => {
      let value: object = {}
      for (let n = 0; n < levels; n++) value = { value }
      return value
    }
    const wrong: [string, unknown][] = [
      ['given as broken JSON', '{"amount": 5'],
      ['given as a list', [5]],
      ['of another type', { amount: 'hunter2' }],
      ['that are missing', {}],
      ['that the schema does not allow', { amount: 5, password: 'hunter2' }],
      ['of ten million characters', { amount: 'x'.repeat(10_000_000) }],
      ['five thousand levels deep', { amount: nested(5_000) }],
      ['that are NaN', { amount: Number.NaN }],
    ]
    test.each(wrong)(
      '%s are rejected without repeating their values, and no body runs [DG-24]',
      async (_what, args) => {
        const store = newStore()
        const run = vi.fn()
        const parameters = z.strictObject({ amount: z.number() })
        const pay = tool({ name: 'pay', description: 'Pay', parameters, run })
        const agent = { model: scriptedModel([calling('pay', args as object), calling('pay', { amount: 5 }), 'done']) }
        const { events, text } = await sendMessage(startProcess(store, { tools: [pay], agent }).runner)
        const [refused] = events.flatMap(({ content }) => content?.parts[0]?.functionResponse ?? [])
        expect(refused?.response).toMatchObject({ errorCode: 'INVALID_ARGS', error: expect.stringContaining('pay') })
        expect(JSON.stringify(refused?.response), 'values are not repeated').not.toContain('hunter2')
        expect(JSON.stringify(refused?.response).length).toBeLessThan(1_000)
        expect(run.mock.calls.map(([first]) => first)).toEqual([{ amount: 5 }])
        expect(text).toBe('done')
        expect(await storedEvents(store)).toHaveLength(6)
      },
    )
  })

  describe('a model that never stops calling tools', () => {
    const always = (step: ScriptedStep): ScriptedStep[] => Array.from({ length: 40 }, () => step)
    const failing = tool({
      name: 'fail',
      description: 'Fail',
      effect: 'none',
      run: () => Promise.reject(new Error('no')),
    })
    const counting = (): { tick: ReturnType<typeof tool>; ticks(): number } => {
      let ticks = 0
      return {
        tick: tool({ name: 'tick', description: 'Tick', effect: 'none', run: () => ({ ticks: ++ticks }) }),
        ticks: () => ticks,
      }
    }

    test('is stopped at the fourth equal failing call, and may call again after the next message [DG-25]', async () => {
      const call = { calls: [{ name: 'fail' }] }
      const steps: ScriptedStep[] = [call, call, call, call, 'sorry']
      const { runner } = startProcess(newStore(), { tools: [failing], steps })
      const { error, events } = await sendMessage(runner)
      expect(error?.code).toBe('REPEATED_CALL')
      expect(Object.keys(finalResponses(events))).toHaveLength(4)
      expect((await sendMessage(runner, 'and now?')).text).toBe('sorry')
    })

    test('is stopped after 16 model calls of one agent [DG-25]', async () => {
      const { tick, ticks } = counting()
      const { runner, model } = startProcess(newStore(), {
        tools: [tick],
        steps: always({ calls: [{ name: 'tick' }] }),
      })
      expect((await sendMessage(runner)).error?.code).toBe('MAX_ITERATIONS')
      expect([model.requests.length, ticks()]).toEqual([16, 16])
    })

    test('shares maxLlmCalls with its agent tools [DG-25]', async () => {
      const { tick, ticks } = counting()
      const inner = new LlmAgent({
        name: 'inner',
        model: scriptedModel(always({ calls: [{ name: 'tick' }] })),
        tools: [tick],
      })
      const steps = always({ calls: [{ name: 'inner', args: { request: 'go' } }] })
      const { runner } = startProcess(newStore(), { tools: [agentTool(inner)], steps })
      const { error } = await runner.complete({
        userId: 'ada',
        message: 'go',
        runConfig: { maxLlmCalls: 5 },
      })
      expect(error?.code).toBe('MAX_LLM_CALLS')
      expect(ticks()).toBe(4)
    })
  })
})
