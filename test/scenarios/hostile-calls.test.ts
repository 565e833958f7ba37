// Calls as a broken or a lying model makes them.
import { agentTool, approve, LlmAgent, tool } from 'toolwright'
import { type Step, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { about, finals, process, refunds, refundTool, say, stored, stores, where } from './approvals-kit.ts'
import { resumed } from './hostile-kit.ts'

const calling = (name: string, args = {}): Step => ({ calls: [{ id: 'c1', name, args }] })

describe.each(stores)('%s', (_, newStore) => {
  test.each(['refunds', 'Refund', 'refund ', 'constructor', ''])('a tool named %j is none [DG-01]', async (name) => {
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const heard: string[] = []
    const agent = {
      model: scriptedModel([calling(name, { amount: 5 }), calling('refund', { amount: 6 }), 'done']),
      beforeTool: () => void heard.push('before'),
      onToolError: () => void heard.push('error'),
    }
    const { events, text } = await say(process(newStore(), { tools: [refund], agent }).runner)
    const [unknown, known] = events.flatMap(({ content }) => content?.parts[0]?.functionResponse ?? [])
    expect(unknown?.response).toMatchObject({ errorCode: 'NOT_FOUND', error: expect.stringContaining('refund') })
    expect(known?.response).toEqual({ refunded: 6 })
    expect(heard, 'only onToolError hears of a tool that does not exist').toEqual(['error', 'before'])
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 6 })
    expect(text).toBe('done')
  })

  test('before somebody has decided nothing runs, one question is open, and the model is left alone [DG-02]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner, model } = process(store, { tools: [refund], steps: [refunds(5), 'done'] })
    const { pending, events, text } = await say(runner)
    expect(run).not.toHaveBeenCalled()
    expect(await runner.pending()).toEqual(pending)
    expect(pending).toMatchObject([{ kind: 'confirmation', functionCallId: 'c1', args: { amount: 5 } }])
    expect(finals(events)).toEqual({})
    expect(text).toBe('')
    expect(model.requests).toHaveLength(1)
    expect((await say(runner, [approve(about(pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
  })

  test('what was asked about is what runs, whatever the model would say by now [DG-18]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const fickle =
      (amount: number): Step =>
      () =>
        refunds(amount)
    const { pending } = await say(process(store, { tools: [refund], steps: [fickle(5)] }).runner)
    const { runner, model } = process(store, { tools: [refund], steps: ['done'] })
    await expect(say(runner, 'make it 999')).rejects.toMatchObject({ code: 'PAUSED' })
    expect((await say(runner, [approve(about(pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    expect(model.requests, 'asked once: after the call had run').toHaveLength(1)
    expect(model.requests[0]?.contents.at(-1)?.role).toBe('tool')
  })

  test.each([
    ['the user', 0],
    ['the agent', 1],
  ])(
    'a call in a log that was interrupted, made by %s, is run %d times when it is resumed [DG-07]',
    async (who, times) => {
      const store = newStore()
      const { refund, run } = refundTool({ requiresConfirmation: false })
      const common = { invocationId: 'e-1', timestamp: 1, actions: {} }
      const content = {
        role: 'model' as const,
        parts: [{ functionCall: { id: 'c1', name: 'refund', args: { amount: 9 } } }],
      }
      const go = { role: 'user' as const, parts: [{ text: 'go' }] }
      await store.createSession({
        appName: 'app',
        ...where,
        events: [
          { ...common, id: '1', author: 'user', content: go },
          { ...common, id: '2', author: who === 'the user' ? 'user' : 'agent', nodeInfo: { path: 'agent' }, content },
        ],
      })
      expect(await resumed(process(store, { tools: [refund], steps: ['done'] }).runner)).toBe('done')
      expect(run).toHaveBeenCalledTimes(times)
    },
  )

  test.each([
    ['in another order', { to: 'eve', amount: 5 }, true],
    ['of another kind', { amount: '5', to: 'eve' }, false],
    ['that only look the same', { amount: 5, to: 'e\u200bve' }, false],
  ])('a yes to arguments, which then come %s [DG-13]', async (_how, args, isTheSame) => {
    const store = newStore()
    const run = vi.fn(() => ({ ok: true }))
    const parameters = { type: 'object' } as const
    const pay = tool({ name: 'pay', description: 'Pay', parameters, requiresConfirmation: true, run })
    const steps = [calling('pay', { amount: 5, to: 'eve' })]
    const { pending } = await say(process(store, { tools: [pay], steps }).runner)
    const agent = { beforeTool: () => ({ args }) }
    const again = await say(process(store, { tools: [pay], steps: ['done'], agent }).runner, [approve(about(pending))])
    expect(run).toHaveBeenCalledTimes(isTheSame ? 1 : 0)
    expect(again.pending.map((request) => request.args)).toEqual(isTheSame ? [] : [args])
  })

  describe('arguments', () => {
    const nested = (levels: number): object => {
      let value: object = {}
      for (let n = 0; n < levels; n++) value = { value }
      return value
    }
    const wrong: [string, unknown][] = [
      ['broken JSON', '{"amount": 5'],
      ['a list', [5]],
      ['of another type', { amount: 'hunter2' }],
      ['that are missing', {}],
      ['nobody asked for', { amount: 5, password: 'hunter2' }],
      ['of ten million letters', { amount: 'x'.repeat(10_000_000) }],
      ['five thousand levels deep', { amount: nested(5_000) }],
      ['that are no number in JSON', { amount: Number.NaN }],
    ]
    test.each(wrong)('%s reach no body, and the model is told what was expected [DG-24]', async (_what, args) => {
      const store = newStore()
      const run = vi.fn()
      const parameters = z.strictObject({ amount: z.number() })
      const pay = tool({ name: 'pay', description: 'Pay', parameters, run })
      const agent = { model: scriptedModel([calling('pay', args as object), calling('pay', { amount: 5 }), 'done']) }
      const { events, text } = await say(process(store, { tools: [pay], agent }).runner)
      const [refused] = events.flatMap(({ content }) => content?.parts[0]?.functionResponse ?? [])
      expect(refused?.response).toMatchObject({ errorCode: 'INVALID_ARGS', error: expect.stringContaining('pay') })
      expect(JSON.stringify(refused?.response), 'values are not repeated').not.toContain('hunter2')
      expect(JSON.stringify(refused?.response).length).toBeLessThan(1_000)
      expect(run.mock.calls.map(([first]) => first)).toEqual([{ amount: 5 }])
      expect(text).toBe('done')
      expect(await stored(store)).toHaveLength(6)
    })
  })

  describe('a model that never stops', () => {
    const always = (step: Step): Step[] => Array.from({ length: 40 }, () => step)
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

    test('with the same failing call is stopped at the fourth, and may try again when asked anew [DG-25]', async () => {
      const call = { calls: [{ name: 'fail' }] }
      const steps: Step[] = [call, call, call, call, 'sorry']
      const { runner } = process(newStore(), { tools: [failing], steps })
      const { error, events } = await say(runner)
      expect(error?.code).toBe('REPEATED_CALL')
      expect(Object.keys(finals(events))).toHaveLength(4)
      expect((await say(runner, 'and now?')).text).toBe('sorry')
    })

    test('is stopped after sixteen model calls of one agent [DG-25]', async () => {
      const { tick, ticks } = counting()
      const { runner, model } = process(newStore(), { tools: [tick], steps: always({ calls: [{ name: 'tick' }] }) })
      expect((await say(runner)).error?.code).toBe('MAX_ITERATIONS')
      expect([model.requests.length, ticks()]).toEqual([16, 16])
    })

    test('shares its budget with those it calls: inside an agent tool it is no larger [DG-25]', async () => {
      const { tick, ticks } = counting()
      const inner = new LlmAgent({
        name: 'inner',
        model: scriptedModel(always({ calls: [{ name: 'tick' }] })),
        tools: [tick],
      })
      const steps = always({ calls: [{ name: 'inner', args: { request: 'go' } }] })
      const { runner } = process(newStore(), { tools: [agentTool(inner)], steps })
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
