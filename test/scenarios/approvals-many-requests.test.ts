// Many pending requests at once, in every kind of agent, answered in any order by different processes.
import {
  type Agent,
  agentTool,
  approve,
  deny,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  type PendingRequest,
  SequentialAgent,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import {
  finalResponses,
  historyProblems,
  refundReply,
  refundTool,
  requestFor,
  runnerOf,
  sendMessage,
  startProcess,
  stores,
  where,
} from './approvals-kit.ts'

const orders = [
  [0, 1, 2, 3, 4],
  [4, 3, 2, 1, 0],
  [2, 0, 4, 1, 3],
]

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test.each(orders.map((order) => [order]))(
    'runs five calls of one tool answered in the order %j across restarts [PR-08]',
    async (order) => {
      const store = newStore()
      const { refund, run } = refundTool()
      const { pending } = await sendMessage(
        startProcess(store, { tools: [refund], steps: [refundReply(10, 11, 12, 13, 14)] }).runner,
      )
      expect(pending).toHaveLength(5)
      for (const [nth, at] of order.entries()) {
        const { runner, model } = startProcess(store, { tools: [refund], steps: nth === 4 ? ['all done'] : [] })
        const request = pending[at] as PendingRequest
        const part = at === 3 ? deny(request) : approve(request)
        const { text, pending: left } = await sendMessage(runner, [part])
        expect(left.map(({ id }) => id)).toEqual(
          pending.filter((_one, other) => !order.slice(0, nth + 1).includes(other)).map(({ id }) => id),
        )
        expect(await runner.pending(where)).toHaveLength(4 - nth)
        if (nth < 4) continue
        expect(text).toBe('all done')
        const [{ contents } = { contents: [] }] = model.requests
        expect(historyProblems(contents)).toEqual([])
        const responses = contents.at(-1)?.parts.map(({ functionResponse }) => functionResponse?.response)
        expect(responses?.map((one) => one?.refunded ?? one?.errorCode)).toEqual([10, 11, 12, 'CANCELLED', 14])
      }
      expect(run.mock.calls.map(([{ amount }]) => amount)).toEqual(order.filter((at) => at !== 3).map((at) => at + 10))
    },
  )

  test('runs five calls approved in one message once each', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(1, 2, 3, 4, 5), 'done'] })
    const { pending } = await sendMessage(runner)
    expect(
      (
        await sendMessage(
          runner,
          pending.map((one) => approve(one)),
        )
      ).text,
    ).toBe('done')
    expect(run).toHaveBeenCalledTimes(5)
  })

  test('keeps finished responses of a batch and does not run their calls again after an approval', async () => {
    const store = newStore()
    let looks = 0
    const look = tool({ name: 'look', description: 'Look', run: () => ({ looks: ++looks }) })
    const { refund, run } = refundTool()
    const steps: ScriptedStep[] = [
      {
        calls: [
          { id: 'l1', name: 'look' },
          { id: 'c1', name: 'refund', args: { amount: 5 } },
          { id: 'l2', name: 'look' },
        ],
      },
    ]
    const first = await sendMessage(startProcess(store, { tools: [refund, look], steps }).runner)
    expect(finalResponses(first.events)).toMatchObject({ l1: { looks: 1 }, l2: { looks: 2 } })
    const { runner, model } = startProcess(store, { tools: [refund, look], steps: ['done'] })
    await sendMessage(runner, [approve(requestFor(first.pending))])
    expect([looks, run.mock.calls.length]).toEqual([2, 1])
    const ids = model.requests[0]?.contents.at(-1)?.parts.map(({ functionResponse }) => functionResponse?.id)
    expect(ids).toEqual(['l1', 'c1', 'l2'])
  })

  describe('with nested agents,', () => {
    let paid: string[] = []
    let modelCalls: string[] = []
    const pay = tool({
      name: 'pay',
      description: 'Pay',
      requiresConfirmation: true,
      run: (_args, context) => {
        paid.push(context.invocation.agentName)
        return { ok: true }
      },
    })
    /** Pays once in each of its turns; replies the same to the same history in every process. */
    const payer = (name: string): LlmAgent =>
      new LlmAgent({
        name,
        tools: [pay],
        model: {
          name: 'rule',
          async *generate({ contents }) {
            modelCalls.push(name)
            const mine = contents.findLastIndex(({ role, parts }) => role === 'model' && parts[0]?.functionCall)
            const isPaid = mine >= 0 && contents[mine + 1]?.role === 'tool' && contents.length === mine + 2
            const parts = isPaid ? [{ text: `${name} paid` }] : [{ functionCall: { name: 'pay', args: {} } }]
            yield { content: { role: 'model', parts } }
          },
        },
      })
    const caller = (name: string, inner: Agent): LlmAgent =>
      new LlmAgent({
        name,
        tools: [agentTool(inner)],
        model: {
          name: 'rule',
          async *generate({ contents }) {
            const isBack = contents.at(-1)?.role === 'tool'
            const parts = isBack
              ? [{ text: `${name} done` }]
              : [{ functionCall: { name: inner.name, args: { request: 'go' } } }]
            yield { content: { role: 'model', parts } }
          },
        },
      })

    const shapes: [string, () => Agent, number, string[]][] = [
      ['a sequence', () => new SequentialAgent({ name: 'root', subAgents: [payer('a'), payer('b')] }), 2, ['a', 'b']],
      ['a loop', () => new LoopAgent({ name: 'root', maxIterations: 3, subAgents: [payer('a')] }), 3, ['a', 'a', 'a']],
      [
        'a parallel agent',
        () => new ParallelAgent({ name: 'root', subAgents: [payer('a'), payer('b')] }),
        2,
        ['a', 'b'],
      ],
      [
        'nested workflow agents',
        () =>
          new SequentialAgent({
            name: 'root',
            subAgents: [
              payer('first'),
              new LoopAgent({
                name: 'again',
                maxIterations: 2,
                subAgents: [new ParallelAgent({ name: 'beside', subAgents: [payer('left'), payer('right')] })],
              }),
            ],
          }),
        5,
        ['first', 'left', 'left', 'right', 'right'],
      ],
      ['three nested agent tools', () => caller('root', caller('one', caller('two', payer('three')))), 1, ['three']],
    ]
    test.each(shapes)(
      'resumes %s at the pending call, in a new process each time [DG-19]',
      async (_name, shape, answers, who) => {
        const store = newStore()
        paid = []
        modelCalls = []
        let { pending, text } = await sendMessage(runnerOf(store, shape()))
        for (let n = 0; n < answers; n++) {
          expect(pending.length).toBeGreaterThan(0)
          expect(await runnerOf(store, shape()).pending(where)).toEqual(pending)
          ;({ pending, text } = await sendMessage(runnerOf(store, shape()), [
            approve(pending.at(-1) as PendingRequest),
          ]))
        }
        expect(pending).toEqual([])
        expect(paid.toSorted()).toEqual(who)
        expect(modelCalls).toHaveLength(2 * who.length) // no model call is repeated
        expect(text).not.toBe('')
      },
    )

    test('shows a denial to the agent three agent tools deep that requested the confirmation [DG-12]', async () => {
      const store = newStore()
      paid = []
      const shape = () => caller('root', caller('one', caller('two', payer('three'))))
      const { pending } = await sendMessage(runnerOf(store, shape()))
      const { events, text } = await sendMessage(runnerOf(store, shape()), [deny(requestFor(pending))])
      expect(paid).toEqual([])
      expect(text).toBe('root done')
      const denied = events.find(({ content }) => JSON.stringify(content).includes('rejected by the user'))
      expect(denied?.author).toBe('three')
    })
  })

  test('pauses again when the model calls the tool again after an approval [DG-11]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const first = await sendMessage(startProcess(store, { tools: [refund], steps: [refundReply(5)] }).runner)
    const again = { calls: [{ id: 'd1', name: 'refund', args: { amount: 5 } }] }
    const second = await sendMessage(startProcess(store, { tools: [refund], steps: [again] }).runner, [
      approve(requestFor(first.pending)),
    ])
    expect(run).toHaveBeenCalledOnce() // an approval is for one call
    expect(requestFor(second.pending).functionCallId).toBe('d1')
    const { runner } = startProcess(store, { tools: [refund], steps: ['done'] })
    expect((await sendMessage(runner, [approve(requestFor(second.pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledTimes(2)
  })

  test('keeps pending requests of two agents with one name apart [DG-12]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const worker = (amount: number) =>
      new LlmAgent({
        name: 'worker',
        model: scriptedModel([{ calls: [{ id: 'call_0', name: 'refund', args: { amount } }] }, `paid ${amount}`]),
        tools: [refund],
      })
    const boss = new LlmAgent({
      name: 'boss',
      model: scriptedModel([
        {
          calls: [
            { id: 'a', name: 'left', args: { request: 'x' } },
            { id: 'b', name: 'right', args: { request: 'y' } },
          ],
        },
        'done',
      ]),
      tools: [agentTool(worker(1), { name: 'left' }), agentTool(worker(2), { name: 'right' })],
    })
    const runner = runnerOf(store, boss)
    const { pending } = await sendMessage(runner)
    const right = pending.find(({ args }) => args.amount === 2) as PendingRequest
    await sendMessage(runner, [approve(right)])
    expect(run.mock.calls).toEqual([[{ amount: 2 }]])
    const left = pending.find(({ args }) => args.amount === 1) as PendingRequest
    expect((await sendMessage(runner, [deny(left)])).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
  })
})
