// Limits, callbacks, plugins, temp: state and streams across a pause.
import { approve, deny, type Plugin, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import {
  historyProblems,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'

const again = (n: number) => ({ calls: [{ id: `c${n}`, name: 'refund', args: { amount: 5 } }] })

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test('counts maxLlmCalls across pauses and processes [DG-25]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const runConfig = { maxLlmCalls: 2 }
    const at = (...steps: Parameters<typeof startProcess>[1]['steps'] & {}) =>
      startProcess(store, { tools: [refund], steps }).runner
    const first = await at(again(1)).complete({ ...where, message: 'go', runConfig })
    const second = await at(again(2)).complete({ ...where, message: [approve(requestFor(first.pending))], runConfig })
    const third = await at('more').complete({ ...where, message: [approve(requestFor(second.pending))], runConfig })
    expect(third.error?.code).toBe('MAX_LLM_CALLS')
    expect(run).toHaveBeenCalledTimes(2)
  })

  test('ends the run after repeated failing calls, across pauses [DG-25]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    run.mockImplementation(() => {
      throw new Error('no money')
    })
    let { pending, error } = await sendMessage(startProcess(store, { tools: [refund], steps: [again(1)] }).runner)
    for (let n = 2; pending.length; n++) {
      const { runner } = startProcess(store, { tools: [refund], steps: [again(n)] })
      ;({ pending, error } = await sendMessage(runner, [approve(requestFor(pending))]))
    }
    expect(error?.code).toBe('REPEATED_CALL')
    expect(run).toHaveBeenCalledTimes(3) // no fourth confirmation
  })

  test('calls tool callbacks when the approved call runs, and agent callbacks once per invocation', async () => {
    const seen: string[] = []
    const { refund } = refundTool()
    const note = (what: string) => () => void seen.push(what)
    const agent = {
      beforeAgent: note('beforeAgent'),
      afterAgent: note('afterAgent'),
      beforeTool: note('beforeTool'),
      afterTool: note('afterTool'),
      onToolError: note('onToolError'),
    }
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'], agent })
    const { pending } = await sendMessage(runner)
    expect(seen).toEqual(['beforeAgent', 'beforeTool'])
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(seen).toEqual(['beforeAgent', 'beforeTool', 'beforeTool', 'afterTool', 'afterAgent'])
  })

  test('does not call afterTool or onToolError for a denied call', async () => {
    const seen: string[] = []
    const { refund } = refundTool()
    const agent = {
      afterTool: () => void seen.push('afterTool'),
      onToolError: () => {
        seen.push('onToolError')
        return { saved: true }
      },
    }
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'ok'], agent })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [deny(requestFor(pending))])
    expect(seen).toEqual([])
  })

  test('lets a plugin add to a confirmation event, but not answer or remove the request', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const kinds: string[] = []
    const plugin: Plugin = {
      name: 'meddler',
      onEvent: ({ event }) => {
        kinds.push(event.content?.parts.map((part) => part.functionCall?.name ?? Object.keys(part)[0]).join() ?? '')
        if (!event.longRunningToolIds?.length || !event.content) return undefined
        const parts = [{ text: 'Please look:' }, ...event.content.parts]
        return { ...event, content: { ...event.content, parts } }
      },
    }
    const { runner, model } = startProcess(store, {
      tools: [refund],
      steps: [refundReply(5), 'done'],
      runner: { plugins: [plugin] },
    })
    const { pending } = await sendMessage(runner)
    expect(run).not.toHaveBeenCalled()
    expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
    expect(kinds.filter((kind) => kind.includes('adk_request'))).toHaveLength(1)
    expect(historyProblems(model.requests[1]?.contents ?? [])).toEqual([])
  })

  test('drops temp: state at a pause and keeps stored state', async () => {
    const seen: unknown[] = []
    const note = tool({
      name: 'note',
      description: 'Note',
      run: (_args, context) => {
        context.state.set('temp:a', 1)
        context.state.set('b', 2)
      },
    })
    const { refund } = refundTool()
    const read = {
      ...refund,
      run: (_args: unknown, context: Parameters<typeof refund.run>[1]) =>
        void seen.push(context.state.get('temp:a'), context.state.get('b')),
    }
    const { runner } = startProcess(newStore(), {
      tools: [note, read],
      steps: [{ calls: [{ name: 'note' }] }, refundReply(5), 'done'],
    })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(seen).toEqual([undefined, 2])
  })

  test('keeps the request pending when a detached consumer stops iterating at the confirmation', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'done'] })
    for await (const event of runner.run({ ...where, message: 'go', runConfig: { streaming: true, detach: true } })) {
      if (event.longRunningToolIds) break
    }
    await expect.poll(async () => (await runner.pending(where)).length).toBe(1)
    const [request] = await runner.pending(where)
    const texts: string[] = []
    const message = [approve(request as never)]
    for await (const { content } of runner.run({ ...where, message, runConfig: { streaming: true } })) {
      texts.push(content?.parts[0]?.text ?? '')
    }
    expect(texts.at(-1)).toBe('done')
    expect(run).toHaveBeenCalledOnce()
    expect((await storedEvents(store)).every(({ partial }) => !partial)).toBe(true)
  })

  test('does nothing on resume while a request is pending', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'done'] })
    const { pending } = await sendMessage(runner)
    const before = await storedEvents(store)
    for (let n = 0; n < 3; n++) for await (const _ of runner.resume(where));
    expect(await storedEvents(store)).toEqual(before)
    expect(await runner.pending(where)).toEqual(pending)
    expect(run).not.toHaveBeenCalled()
  })
})
