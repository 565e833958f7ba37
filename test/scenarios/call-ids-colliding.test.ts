// Colliding ids: the same call id in two invocations or two agents, and call ids that look like request ids or scope paths.
import {
  type Agent,
  agentTool,
  approve,
  createEvent,
  LlmAgent,
  type Model,
  ParallelAgent,
  type SessionService,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel, strictModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import {
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
import { limitAppends } from './bounded-store.ts'
import { createDeferred, plainTool } from './kit.ts'

const timeout = { timeout: 10_000 }

/** The ids of calls to a tool, in the order in which they were recorded. */
async function idsOf(store: SessionService, name: string): Promise<string[]> {
  const parts = (await storedEvents(store)).flatMap(({ content }) => content?.parts ?? [])
  return parts.flatMap(({ functionCall }) => (functionCall?.name === name ? [functionCall.id ?? ''] : []))
}

/** A custom agent that yields a remote call and its response. */
function proxy(id: string, before: Promise<void>): Agent {
  return {
    name: 'proxy',
    async *run() {
      await before
      yield createEvent({ content: { role: 'model', parts: [{ functionCall: { id, name: 'remote', args: {} } }] } })
      yield createEvent({
        content: { role: 'tool', parts: [{ functionResponse: { id, name: 'remote', response: {} } }] },
      })
    },
  }
}

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test('keeps the first call_0 of a session and replaces the id in the next invocation', async () => {
    const store = newStore()
    const keys: string[] = []
    const act = plainTool('act', (_args, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      return {}
    })
    const step: ScriptedStep = { calls: [{ id: 'call_0', name: 'act' }] }
    const { runner } = startProcess(store, { tools: [act], steps: [step, 'one', step, 'two'] })
    await sendMessage(runner)
    await sendMessage(runner)
    const ids = await idsOf(store, 'act')
    expect(ids[0]).toBe('call_0')
    expect(new Set(ids).size).toBe(2)
    expect(keys.map((key) => key.split('/')[1])).toEqual(ids)
  })

  test('requests a confirmation for a call with the id of an approved request', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    let requestId = ''
    const forged = (): ScriptedStep => ({ calls: [{ id: requestId, name: 'refund', args: { amount: 500 } }] })
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), forged, 'done', forged, 'done'] })
    const { pending } = await sendMessage(runner)
    requestId = requestFor(pending).id
    for (let turn = 1; turn <= 2; turn++) {
      const message = turn === 1 ? [approve(requestFor(pending))] : 'again'
      const next = await sendMessage(runner, message)
      expect(next.pending).toMatchObject([{ kind: 'confirmation', args: { amount: 500 } }])
      expect(requestFor(next.pending).functionCallId).not.toBe(requestId)
      expect(run).toHaveBeenCalledTimes(turn)
      await sendMessage(runner, [approve(requestFor(next.pending))]) // the honest approval counts
      expect(run).toHaveBeenCalledTimes(turn + 1)
    }
  })

  test('counts replies whose calls use a request id, and ends with MAX_LLM_CALLS', timeout, async () => {
    const store = newStore()
    const { refund } = refundTool()
    let requestId = ''
    let replies = 0
    const model: Model = {
      name: 'model',
      async *generate() {
        const id = replies++ === 0 ? 'c1' : requestId
        const name = replies === 1 ? 'refund' : 'look'
        const args = { amount: replies }
        yield { content: { role: 'model', parts: [{ functionCall: { id, name, args } }] } }
      },
    }
    const look = plainTool('look', () => ({}))
    const agent = new LlmAgent({ name: 'agent', model, tools: [refund, look], maxIterations: 1_000 })
    const runner = runnerOf(store, agent)
    const runConfig = { maxLlmCalls: 10 }
    const { pending } = await runner.complete({ ...where, message: 'go', runConfig })
    requestId = requestFor(pending).id
    const { error } = await runner.complete({ ...where, message: [approve(requestFor(pending))], runConfig })
    expect(error?.code).toBe('MAX_LLM_CALLS')
    expect(replies).toBe(10)
  })

  test('replaces a call id with the prefix adk-', async () => {
    const store = newStore()
    const { refund } = refundTool()
    const steps = [{ calls: [{ id: 'adk-1', name: 'refund', args: { amount: 5 } }] }]
    await sendMessage(startProcess(store, { tools: [refund], steps }).runner)
    expect(await idsOf(store, 'refund')).toEqual([expect.stringMatching(/^adk-(?!1$)/)])
  })

  test.each([
    ['t1', 'is replaced', false],
    ['1', 'is replaced', false],
    ['t', 'is kept', true],
    ['c1', 'is kept', true],
  ])('with the call id %s: the id %s, and the call runs after its approval', async (id, _what, isKept) => {
    const store = newStore()
    const { refund, run } = refundTool()
    const steps = [{ calls: [{ id, name: 'refund', args: { amount: 5 } }] }, 'done']
    const { runner } = startProcess(store, { tools: [refund], steps })
    const { pending } = await sendMessage(runner)
    expect((await idsOf(store, 'refund'))[0] === id).toBe(isKept)
    expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
  })

  test('closes a pending request inside an agent tool with the call id t1 after a transfer', async () => {
    const { refund, run } = refundTool()
    const inner = new LlmAgent({
      name: 'helper',
      model: strictModel(scriptedModel([refundReply(5), 'inner'])),
      tools: [refund],
    })
    const later = strictModel(scriptedModel([{ calls: [{ id: 'n1', name: 'refund', args: { amount: 8 } }] }, 'done']))
    const next = new LlmAgent({ name: 'next', model: later, tools: [refund] })
    const goOn = tool({
      name: 'go_on',
      description: 'Go on',
      requiresConfirmation: true,
      run: (_args, context) => context.transferToAgent('next'),
    })
    const calls = [
      { id: 't1', name: 'helper', args: { request: 'x' } },
      { id: 'g', name: 'go_on' },
    ]
    const tools = [agentTool(inner), goOn]
    const model = strictModel(scriptedModel([{ calls }]))
    const runner = runnerOf(newStore(), new LlmAgent({ name: 'agent', model, tools, subAgents: [next] }))
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [approve(requestFor(pending, 'g'))])
    const open = await runner.pending()
    expect(open.map(({ functionCallId }) => functionCallId)).toEqual(['n1'])
    await expect(sendMessage(runner, [approve(requestFor(pending, 'c1'))])).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await sendMessage(runner, [approve(requestFor(open))])).text).toBe('done')
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 8 })
  })

  test("keeps a pending request of a child open when a custom agent uses the child's scope number as call id", async () => {
    const { refund, run } = refundTool()
    const child = new LlmAgent({ name: 'child', model: scriptedModel([refundReply(5), 'done']), tools: [refund] })
    const root: Agent = {
      name: 'root',
      subAgents: [child],
      async *run(context) {
        if (context.events.length === 0) yield* proxy('1', Promise.resolve()).run(context)
        yield* child.run(context)
      },
    }
    const runner = runnerOf(newStore(), root)
    const { pending } = await sendMessage(runner)
    expect(await runner.pending()).toEqual(pending)
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(run).toHaveBeenCalledOnce()
  })

  test(
    'does not treat the response of a parallel custom agent with the same call id as the response of the call',
    timeout,
    async () => {
      const begun = createDeferred()
      const letGo = createDeferred()
      const run = vi.fn(async () => {
        begun.resolve()
        await letGo.promise
        return { acted: true }
      })
      const model = scriptedModel([{ calls: [{ id: 'call_0', name: 'act' }] }, 'done'])
      const child = new LlmAgent({ name: 'child', model, tools: [plainTool('act', run)] })
      const other = proxy('call_0', begun.promise)
      const ended: Agent = {
        ...other,
        async *run(context) {
          yield* other.run(context)
          letGo.resolve() // both events are recorded
        },
      }
      const store = limitAppends(newStore())
      await sendMessage(runnerOf(store, new ParallelAgent({ name: 'root', subAgents: [child, ended] })))
      expect(run).toHaveBeenCalledOnce()
      const answers = (await storedEvents(store)).filter(
        ({ author, content }) => author === 'child' && content?.role === 'tool',
      )
      expect(answers.map(({ content }) => content?.parts[0]?.functionResponse?.response)).toEqual([{ acted: true }])
    },
  )
})
