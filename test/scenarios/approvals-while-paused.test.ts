// While requests are pending: new text, transfers and loop exits, cancellation, and the list of pending requests.
import {
  agentTool,
  approve,
  exitLoop,
  LlmAgent,
  LoopAgent,
  longRunning,
  type PendingRequest,
  type SessionService,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import {
  answerPart,
  finalResponses,
  historyProblems,
  refundReply,
  refundTool,
  requestFor,
  runnerOf,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'

const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ ticket: 1 }) }))
const ordering = { calls: [{ id: 'o1', name: 'order' }] }
const moved = { status: 'cancelled', reason: expect.any(String) }

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  describe('new text during a pause', () => {
    test.each([undefined, 'reject', 'continue'] as const)(
      'is rejected with the pending confirmation in the message (whilePaused: %s)',
      async (whilePaused) => {
        const { refund } = refundTool()
        const { runner } = startProcess(newStore(), {
          tools: [refund],
          steps: [refundReply(5), 'done'],
          runner: { whilePaused },
        })
        const { pending } = await sendMessage(runner)
        await expect(sendMessage(runner, 'hello?')).rejects.toMatchObject({
          code: 'PAUSED',
          message: expect.stringContaining('refund (c1)'),
        })
        expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
      },
    )

    test.each([
      [undefined, 'is accepted'],
      ['continue', 'is accepted'],
      ['reject', 'is rejected'],
    ] as const)('while only a long-running call is pending (whilePaused: %s) %s', async (whilePaused, verdict) => {
      const steps = [ordering, 'hi', 'here']
      const { runner } = startProcess(newStore(), { tools: [order], steps, runner: { whilePaused } })
      await sendMessage(runner)
      if (verdict === 'is accepted') expect((await sendMessage(runner, 'hello?')).text).toBe('hi')
      else await expect(sendMessage(runner, 'hello?')).rejects.toMatchObject({ code: 'PAUSED' })
      expect((await sendMessage(runner, [answerPart('o1', { box: 1 }, 'order')])).text).toBe(
        verdict === 'is accepted' ? 'here' : 'hi',
      )
    })

    test('cancels the pending call with whilePaused cancel, and rejects the late answer', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      const { runner, model } = startProcess(store, {
        tools: [refund],
        steps: [refundReply(5), 'hi', 'still here'],
        runner: { whilePaused: 'cancel' },
      })
      const { pending } = await sendMessage(runner)
      const { text, events } = await sendMessage(runner, 'never mind')
      expect(text).toBe('hi')
      expect(finalResponses(events).c1).toMatchObject({ errorCode: 'CANCELLED' })
      expect(historyProblems(model.requests[1]?.contents ?? [])).toEqual([])
      expect(await runner.pending()).toEqual([])
      await expect(sendMessage(runner, [approve(requestFor(pending))])).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(run).not.toHaveBeenCalled()
    })
  })

  describe('after a transfer or loop exit,', () => {
    const transfer = tool({
      name: 'hand_over',
      description: 'Hand over',
      requiresConfirmation: true,
      run: (_args, context) => context.transferToAgent('clerk'),
    })
    const clerk = () => new LlmAgent({ name: 'clerk', model: scriptedModel(['clerk here', 'yes?']) })

    test('cancels a call in the batch of a transfer without requesting its confirmation', async () => {
      const { refund, run } = refundTool()
      const steps: ScriptedStep[] = [
        {
          calls: [
            { id: 'c1', name: 'refund', args: { amount: 5 } },
            { id: 't1', name: 'transfer_to_agent', args: { agent_name: 'clerk' } },
          ],
        },
      ]
      const { runner } = startProcess(newStore(), { tools: [refund], steps, agent: { subAgents: [clerk()] } })
      const { events, pending, text } = await sendMessage(runner)
      expect(text).toBe('clerk here')
      expect(pending).toEqual([])
      expect(finalResponses(events).c1).toEqual(moved)
      expect(JSON.stringify(events)).not.toContain('adk_request_')
      expect(run).not.toHaveBeenCalled()
    })

    test('closes the pending request of a sibling call and rejects its late answer', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      const steps: ScriptedStep[] = [
        {
          calls: [
            { id: 'c1', name: 'refund', args: { amount: 5 } },
            { id: 'h1', name: 'hand_over' },
          ],
        },
      ]
      const { runner } = startProcess(store, { tools: [refund, transfer], steps, agent: { subAgents: [clerk()] } })
      const { pending } = await sendMessage(runner)
      const { events, text } = await sendMessage(runner, [approve(requestFor(pending, 'h1'))])
      expect(text).toBe('clerk here')
      expect(finalResponses(events).c1).toEqual(moved)
      expect(await runner.pending()).toEqual([])
      for (const late of [approve(requestFor(pending, 'c1')), answerPart('c1', { confirmed: true })]) {
        await expect(sendMessage(runner, [late])).rejects.toMatchObject({ code: 'NOT_FOUND' })
      }
      expect(run).not.toHaveBeenCalled()
      expect((await sendMessage(runner, 'hello')).text).toBe('yes?')
    })

    test('closes a pending request inside an agent tool', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      const helper = new LlmAgent({ name: 'helper', model: scriptedModel([refundReply(5)]), tools: [refund] })
      const busy = new LlmAgent({ name: 'clerk', model: scriptedModel([refundReply(7), 'paid']), tools: [refund] })
      const steps: ScriptedStep[] = [
        {
          calls: [
            { id: 'a1', name: 'helper', args: { request: 'x' } },
            { id: 'h1', name: 'hand_over' },
          ],
        },
      ]
      const { runner } = startProcess(store, {
        tools: [agentTool(helper), transfer],
        steps,
        agent: { subAgents: [busy] },
      })
      const { pending } = await sendMessage(runner)
      const inner = pending.find(({ agent }) => agent === 'helper') as PendingRequest
      const second = await sendMessage(runner, [approve(requestFor(pending, 'h1'))])
      expect(second.pending.map(({ agent }) => agent)).toEqual(['clerk'])
      await expect(sendMessage(runner, [approve(inner)])).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(run).not.toHaveBeenCalled()
      expect((await sendMessage(runner, [approve(requestFor(second.pending))])).text).toBe('paid')
      expect(run.mock.calls).toEqual([[{ amount: 7 }]])
    })

    test('cancels a call in the batch of exit_loop without requesting its confirmation', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      const critic = new LlmAgent({
        name: 'critic',
        tools: [refund, exitLoop()],
        model: scriptedModel([
          {
            calls: [
              { id: 'c1', name: 'refund', args: { amount: 5 } },
              { id: 'x1', name: 'exit_loop' },
            ],
          },
        ]),
      })
      const runner = runnerOf(store, new LoopAgent({ name: 'root', maxIterations: 5, subAgents: [critic] }))
      const { events, pending } = await sendMessage(runner)
      expect(pending).toEqual([])
      expect(finalResponses(events)).toMatchObject({ c1: moved, x1: { status: 'ok' } })
      expect(run).not.toHaveBeenCalled()
    })
  })

  describe('cancellation of a paused run [PR-12]', () => {
    async function waiting(store: SessionService) {
      const { refund, run } = refundTool()
      const first = startProcess(store, { tools: [refund], steps: [refundReply(5), 'hi'] })
      const { pending } = await sendMessage(first.runner)
      const other = startProcess(store, { tools: [refund], steps: [] })
      return { run, first, other, request: requestFor(pending) }
    }

    test.each(['first', 'other'] as const)(
      'closes the pending request once when the %s process cancels twice',
      async (who) => {
        const store = newStore()
        const stage = await waiting(store)
        const { runner } = stage[who]
        await runner.cancel(where)
        const events = await storedEvents(store)
        expect(finalResponses(events).c1).toMatchObject({ errorCode: 'CANCELLED' })
        expect(events.at(-1)).toMatchObject({ errorCode: 'CANCELLED' })
        await runner.cancel(where)
        expect(await storedEvents(store)).toEqual(events)
        expect(await runner.pending()).toEqual([])
        for (const late of [approve(stage.request), answerPart('c1', { confirmed: true })]) {
          await expect(sendMessage(stage.first.runner, [late])).rejects.toMatchObject({ code: 'NOT_FOUND' })
        }
        expect(stage.run).not.toHaveBeenCalled()
        expect((await sendMessage(stage.first.runner, 'hello')).text).toBe('hi')
        expect(historyProblems(stage.first.model.requests[1]?.contents ?? [])).toEqual([])
      },
    )

    test('changes nothing after the invocation has completed', async () => {
      const store = newStore()
      const stage = await waiting(store)
      await sendMessage(stage.first.runner, [approve(stage.request)])
      const events = await storedEvents(store)
      await stage.other.runner.cancel(where)
      expect(await storedEvents(store)).toEqual(events)
    })

    test('of another invocation leaves the request pending', async () => {
      const stage = await waiting(newStore())
      await stage.other.runner.cancel({ ...where, invocationId: 'e-other' })
      expect(await stage.other.runner.pending()).toHaveLength(1)
      expect((await sendMessage(stage.first.runner, [approve(stage.request)])).text).toBe('hi')
    })
  })

  test('lists pending requests across users and sessions, without answered, cancelled, deleted or expired ones', async () => {
    const store = newStore()
    const { refund } = refundTool()
    const homes = [
      { userId: 'ada', sessionId: 'a1' },
      { userId: 'ada', sessionId: 'a2' },
      { userId: 'bob', sessionId: 'b1' },
      { userId: 'eve', sessionId: 'e1' },
    ]
    let now = 0
    const { runner } = startProcess(store, {
      tools: [refund],
      steps: [...homes.map(() => refundReply(5)), 'done'],
      runner: { ports: { now: () => ++now } },
    })
    for (const home of homes) await runner.complete({ ...home, message: 'go' })
    const listed = async (filter = {}) => (await runner.pending(filter)).map(({ sessionId }) => sessionId)
    expect(await listed()).toEqual(['a1', 'a2', 'b1', 'e1'])
    expect(await listed({ userId: 'ada' })).toEqual(['a1', 'a2'])
    expect(await listed({ userId: 'ada', sessionId: 'a2' })).toEqual(['a2'])
    expect(await listed({ userId: 'nobody' })).toEqual([])
    const [a1] = await runner.pending({ sessionId: 'a1' })
    await runner.complete({ userId: 'ada', sessionId: 'a1', message: [approve(a1 as PendingRequest)] })
    expect(await listed()).toEqual(['a2', 'b1', 'e1'])
    await runner.cancel({ userId: 'ada', sessionId: 'a2' })
    expect(await listed()).toEqual(['b1', 'e1'])
    await store.deleteSession({ appName: 'app', userId: 'bob', sessionId: 'b1' })
    expect(await listed()).toEqual(['e1'])
    const [e1] = await runner.pending()
    now += 24 * 60 * 60 * 1000
    expect(await listed()).toEqual([]) // expired
    const late = runner.complete({ userId: 'eve', sessionId: 'e1', message: [approve(e1 as PendingRequest)] })
    await expect(late).rejects.toMatchObject({ code: 'EXPIRED' })
    expect(await listed()).toEqual([])
    const gone = { userId: 'bob', sessionId: 'b1' }
    await expect(runner.complete({ ...gone, message: [answerPart('c1', { confirmed: true })] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await store.getSession({ appName: 'app', ...gone })).toBeUndefined()
  })
})
