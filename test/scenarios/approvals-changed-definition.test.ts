// An answer in another process, after a deploy: tools and agents may have changed or be gone.
import { agentTool, approve, LlmAgent, SequentialAgent, type SessionService, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  finalResponses,
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

const strict = z.object({ amount: z.number().max(1_000) })

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  /** Requests a confirmation in a process that has ended since. */
  async function requestConfirmation(store: SessionService) {
    const { pending } = await sendMessage(
      startProcess(store, { tools: [refundTool().refund], steps: [refundReply(5)] }).runner,
    )
    return requestFor(pending)
  }

  test('runs an approved call in another process with the same tool [DG-17]', async () => {
    const store = newStore()
    const request = await requestConfirmation(store)
    const { refund, run } = refundTool()
    const { text } = await sendMessage(startProcess(store, { tools: [refund], steps: ['done'] }).runner, [
      approve(request),
    ])
    expect(text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
  })

  test.each([
    ['parameters', () => ({ ...tool({ ...base(), parameters: strict }) })],
    ['effect', () => ({ ...tool({ ...base(), effect: 'idempotent' }) })],
    ['gate', () => ({ ...tool({ ...base(), requiresConfirmation: () => true }) })],
  ] as const)(
    'requests another confirmation when the tool has changed (%s), then runs the call [DG-17]',
    async (_name, other) => {
      const store = newStore()
      const request = await requestConfirmation(store)
      runs = 0
      const { runner } = startProcess(store, { tools: [other()], steps: ['done'] })
      const second = await sendMessage(runner, [approve(request)])
      expect(runs).toBe(0)
      expect(requestFor(second.pending).hint).toContain('DEFINITION_CHANGED')
      expect((await sendMessage(runner, [approve(requestFor(second.pending))])).text).toBe('done')
      expect(runs).toBe(1)
    },
  )

  test('answers DEFINITION_CHANGED when the tool changes a second time [DG-17]', async () => {
    const store = newStore()
    const request = await requestConfirmation(store)
    runs = 0
    const first = startProcess(store, { tools: [tool({ ...base(), parameters: strict })], steps: [] })
    const { pending } = await sendMessage(first.runner, [approve(request)])
    const second = startProcess(store, { tools: [tool({ ...base(), effect: 'idempotent' })], steps: ['done'] })
    const { events, text } = await sendMessage(second.runner, [approve(requestFor(pending))])
    expect(runs).toBe(0)
    expect(finalResponses(events).c1).toMatchObject({ errorCode: 'DEFINITION_CHANGED' })
    expect(text).toBe('done')
  })

  test('requests another confirmation when the tool that requested a confirmation in its body has changed', async () => {
    const store = newStore()
    const pay = (effect: 'none' | 'idempotent') =>
      tool({
        name: 'pay',
        description: 'Pay',
        effect,
        run: (_args, context) => {
          context.requestConfirmation({ hint: 'Pay?' })
          if (context.toolConfirmation?.confirmed) runs++
        },
      })
    runs = 0
    const steps = [{ calls: [{ id: 'c1', name: 'pay' }] }]
    const { pending } = await sendMessage(startProcess(store, { tools: [pay('none')], steps }).runner)
    const { runner } = startProcess(store, { tools: [pay('idempotent')], steps: ['done'] })
    const again = await sendMessage(runner, [approve(requestFor(pending))])
    expect(runs).toBe(0)
    await sendMessage(runner, [approve(requestFor(again.pending))])
    expect(runs).toBe(1)
  })

  test('requests another confirmation when the tool no longer requires a confirmation', async () => {
    const store = newStore()
    const request = await requestConfirmation(store)
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const { runner } = startProcess(store, { tools: [refund], steps: ['done'] })
    const { pending } = await sendMessage(runner, [approve(request)])
    expect(run).not.toHaveBeenCalled() // the definition differs from the approved one
    expect(requestFor(pending).hint).toContain('DEFINITION_CHANGED')
  })

  test.each([
    ['removed', []],
    ['renamed', [tool({ ...base(), name: 'give_back' })]],
  ])(
    'answers NOT_FOUND when the tool of the approved call was %s, and the model continues [PR-14]',
    async (_name, tools) => {
      const store = newStore()
      const request = await requestConfirmation(store)
      const { runner, model } = startProcess(store, { tools, steps: ['done'] })
      const { events, text } = await sendMessage(runner, [approve(request)])
      expect(finalResponses(events).c1).toMatchObject({ errorCode: 'NOT_FOUND' })
      expect(text).toBe('done')
      model.assertComplete()
    },
  )

  describe('with a missing agent', () => {
    const transfer = { calls: [{ name: 'transfer_to_agent', args: { agent_name: 'clerk' } }] }
    const clerk = (refund: Parameters<typeof team>[1]) =>
      new LlmAgent({ name: 'clerk', model: scriptedModel([refundReply(5), 'paid']), tools: [refund] })
    const team = (subAgents: LlmAgent[], refund: ReturnType<typeof refundTool>['refund']) =>
      new LlmAgent({ name: 'root', model: scriptedModel([transfer, 'I am root']), subAgents, tools: [refund] })

    test('answers the call NOT_FOUND and does not run a root tool of the same name [DG-12, PR-14]', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      const { pending } = await sendMessage(runnerOf(store, team([clerk(refund)], refund)))
      const { events, error, text } = await sendMessage(runnerOf(store, team([], refund)), [
        approve(requestFor(pending)),
      ])
      expect(run).not.toHaveBeenCalled()
      expect(finalResponses(events).c1).toEqual({ error: expect.stringContaining('"clerk"'), errorCode: 'NOT_FOUND' })
      expect(error).toMatchObject({ code: 'AGENT_ERROR', message: expect.stringContaining('"clerk"') })
      expect(text).not.toContain('root')
      expect(await runnerOf(store, team([], refund)).pending()).toEqual([])
    })

    test('runs the approved call when the agent still exists [PR-14]', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      const { pending } = await sendMessage(runnerOf(store, team([clerk(refund)], refund)))
      const back = new LlmAgent({ name: 'clerk', model: scriptedModel(['paid']), tools: [refund] })
      expect((await sendMessage(runnerOf(store, team([back], refund)), [approve(requestFor(pending))])).text).toBe(
        'paid',
      )
      expect(run).toHaveBeenCalledOnce()
    })

    test('ends with AGENT_ERROR when a child of a sequence is missing, and does not run later children', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      const last = scriptedModel(['last'])
      const line = (...names: string[]) =>
        new SequentialAgent({
          name: 'root',
          subAgents: names.map((name) =>
            name === 'last'
              ? new LlmAgent({ name, model: last })
              : new LlmAgent({ name, model: scriptedModel([refundReply(5)]), tools: [refund] }),
          ),
        })
      const { pending } = await sendMessage(runnerOf(store, line('first', 'last')))
      const { error } = await sendMessage(runnerOf(store, line('last')), [approve(requestFor(pending))])
      expect(error?.code).toBe('AGENT_ERROR')
      expect(run).not.toHaveBeenCalled()
      expect(last.requests).toHaveLength(0)
    })

    test('ends with AGENT_ERROR when the root agent was renamed, and does not restart the invocation', async () => {
      const store = newStore()
      await requestConfirmation(store)
      const { refund, run } = refundTool()
      const { runner, model } = startProcess(store, { tools: [refund], steps: ['new'], agent: { name: 'other' } })
      const [request] = await runner.pending(where)
      const { error } = await sendMessage(runner, [approve(request as never)])
      expect(error?.code).toBe('AGENT_ERROR')
      expect(model.requests).toHaveLength(0)
      expect(run).not.toHaveBeenCalled()
      expect((await sendMessage(runner, 'hello')).text).toBe('new') // the session accepts the next message
    })

    test.each([
      ['renamed', 'helper', 'assistant', 'AGENT_ERROR'],
      ['kept under its name', 'helper', 'helper', undefined],
    ])('does not repeat finished calls of an agent tool whose agent was %s', async (_name, before, after, code) => {
      const store = newStore()
      const { refund, run } = refundTool()
      let paid = 0
      const pay = tool({ name: 'pay', description: 'Pay', run: () => ({ paid: ++paid }) })
      const boss = (name: string, inner: Parameters<typeof scriptedModel>[0], outer: typeof inner) =>
        new LlmAgent({
          name: 'boss',
          model: scriptedModel(outer),
          tools: [
            agentTool(new LlmAgent({ name, model: scriptedModel(inner), tools: [pay, refund] }), { name: 'help' }),
          ],
        })
      const inner = [{ calls: [{ id: 'p1', name: 'pay' }] }, refundReply(5), 'helped']
      const call = { calls: [{ id: 'h1', name: 'help', args: { request: 'x' } }] }
      const { pending } = await sendMessage(runnerOf(store, boss(before, inner, [call])))
      const { error } = await sendMessage(runnerOf(store, boss(after, code ? inner : ['helped'], ['done'])), [
        approve(requestFor(pending)),
      ])
      expect(error?.code).toBe(code)
      expect(paid).toBe(1)
      expect(run).toHaveBeenCalledTimes(code ? 0 : 1)
      const calls = (await storedEvents(store)).flatMap(
        ({ content }) => content?.parts.map((p) => p.functionCall?.id) ?? [],
      )
      for (const id of ['p1', 'h1', 'c1']) expect(calls).toContain(id)
    })

    test('answers the call of a removed agent tool with NOT_FOUND', async () => {
      const store = newStore()
      const { refund, run } = refundTool()
      const helper = new LlmAgent({ name: 'helper', model: scriptedModel([refundReply(5), 'helped']), tools: [refund] })
      const call = { calls: [{ id: 'h1', name: 'helper', args: { request: 'x' } }] }
      const { pending } = await sendMessage(startProcess(store, { tools: [agentTool(helper)], steps: [call] }).runner)
      const { runner } = startProcess(store, { tools: [], steps: ['done'] })
      const { events, text } = await sendMessage(runner, [approve(requestFor(pending))])
      expect(run).not.toHaveBeenCalled()
      expect(finalResponses(events).h1).toMatchObject({ errorCode: 'NOT_FOUND' })
      expect(text).toBe('done')
    })
  })
})

let runs = 0

function base() {
  return {
    name: 'refund',
    description: 'Refund money',
    parameters: z.object({ amount: z.number() }) as z.ZodType<{ amount: number }>,
    requiresConfirmation: true as boolean | (() => boolean),
    run: () => ++runs,
  }
}
