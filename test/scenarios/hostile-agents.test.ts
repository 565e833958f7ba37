// Agents people write themselves, and callbacks, that yield what they should not.
import { type Agent, approve, createEvent, type Event, LlmAgent, tool } from 'toolwright'
import { type Step, scriptedModel, strictModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { about, process, refunds, refundTool, runnerOf, say, stored, stores } from './approvals-kit.ts'
import { bounded } from './hostile-bounded.ts'

const timeout = { timeout: 10_000 }
const call = (id: string, name: string) => ({ functionCall: { id, name, args: {} } })
const says = (role: 'model' | 'tool', part: object): Event => createEvent({ content: { role, parts: [part] as never } })

function actTool() {
  const run = vi.fn(() => ({ acted: true }))
  return { act: tool({ name: 'act', description: 'Act', run }), run }
}

/** An agent of one's own around a child. */
function around(
  run: (child: LlmAgent, ...args: Parameters<Agent['run']>) => ReturnType<Agent['run']>,
  child: LlmAgent,
) {
  const root: Agent = { name: 'root', subAgents: [child], run: (context) => run(child, context) }
  return root
}

describe.each(stores)('%s', (_name, newStore) => {
  describe('an agent that passes on copies of what its child says', () => {
    const copying = (child: LlmAgent): Agent =>
      around(async function* (inner, context) {
        for await (const event of inner.run(context)) yield { ...event, customMetadata: { seen: true } }
      }, child)

    test('ends, and what the child called is done once', timeout, async () => {
      const { act, run } = actTool()
      const model = scriptedModel([{ calls: [{ id: 'c1', name: 'act' }] }, 'done'])
      const runner = runnerOf(bounded(newStore()), copying(new LlmAgent({ name: 'child', model, tools: [act] })))
      expect((await say(runner)).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
    })

    test('waits with it: what the child asks is asked once, and a yes runs it', timeout, async () => {
      const { refund, run } = refundTool()
      const model = scriptedModel([refunds(5), 'done'])
      const runner = runnerOf(bounded(newStore()), copying(new LlmAgent({ name: 'child', model, tools: [refund] })))
      const { pending } = await say(runner)
      expect(await runner.pending()).toEqual(pending)
      await say(runner, [approve(about(pending))])
      expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    })
  })

  test('an agent that keeps the pause of an earlier run and throws it again comes to its end', timeout, async () => {
    const { refund } = refundTool()
    let collected: Promise<Event[]> | undefined
    let times = 0
    const model = scriptedModel([refunds(5), 'done'])
    const root = around(
      async function* (inner, context) {
        if (++times > 50) throw new Error('this does not end')
        collected ??= toArray(inner.run(context))
        yield* await collected
      },
      new LlmAgent({ name: 'child', model, tools: [refund] }),
    )
    const runner = runnerOf(bounded(newStore()), root)
    const { pending } = await say(runner)
    const { error } = await say(runner, [approve(about(pending))])
    expect(error).toEqual({
      code: 'AGENT_ERROR',
      message: 'An agent waits for a request that no answer can reach. Check its run() method.',
    })
    expect(times).toBeLessThan(5)
  })

  test('an agent cannot answer the gated call of its child', timeout, async () => {
    const { refund, run } = refundTool()
    const model = scriptedModel([refunds(5), 'done'])
    const refunded = { functionResponse: { id: 'c1', name: 'refund', response: { refunded: 5 } } }
    const root = around(
      async function* (inner, context) {
        try {
          yield* inner.run(context)
        } catch (error) {
          yield says('tool', refunded)
          throw error
        }
      },
      new LlmAgent({ name: 'child', model: strictModel(model), tools: [refund] }),
    )
    const runner = runnerOf(bounded(newStore()), root)
    await say(runner)
    expect(model.requests).toHaveLength(1) // it was not told that there is an answer
    const pending = await runner.pending()
    expect((await say(runner, [approve(about(pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
  })

  test('an agent that speaks as its child leaves no open call in what its model is shown', timeout, async () => {
    const model = scriptedModel(['fine'])
    const root = around(
      async function* (inner, context) {
        const { content } = says('model', call('q', 'search'))
        yield createEvent({ author: 'child', ...(content && { content }) })
        yield* inner.run(context)
      },
      new LlmAgent({ name: 'child', model: strictModel(model) }),
    )
    expect(await say(runnerOf(bounded(newStore()), root))).toMatchObject({ text: 'fine', error: undefined })
  })

  test.each<[string, object]>([
    ['a text for content', { content: 'hello' }],
    ['content without parts', { content: { role: 'model' } }],
    ['a part that is nothing', { content: { role: 'model', parts: [null] } }],
    [
      'a call without arguments',
      { author: 'child', content: { role: 'model', parts: [{ functionCall: { name: 'x' } }] } },
    ],
    ['half an answer', { content: { role: 'tool', parts: [{ functionResponse: { id: 'x' } }] } }],
    ['no actions', { actions: null }],
    ['a text for state', { actions: { stateDelta: 'abc' } }],
    ['nothing for state', { actions: { stateDelta: null } }],
    ['what JSON cannot hold', { actions: { stateDelta: { x: 1n } } }],
    ['a transfer', { actions: { transferToAgent: 'child' } }],
    ['a transfer to no name', { actions: { transferToAgent: { a: 1 } } }],
    ['its own end', { actions: { endOfAgent: true } }],
    ['an error that is no text', { errorCode: { a: 1 } }],
  ])('after an agent that gave %s the session goes on', timeout, async (_what, odd) => {
    const store = bounded(newStore())
    let isOdd = true
    const root = around(
      async function* (inner, context) {
        if (isOdd) yield createEvent(odd)
        yield* inner.run(context)
      },
      new LlmAgent({ name: 'child', model: strictModel(scriptedModel(['one', 'two'])) }),
    )
    await say(runnerOf(store, root)).catch(() => {}) // refused or not
    isOdd = false
    const { text, error } = await say(runnerOf(store, root), 'again')
    expect({ text, error }).toEqual({ text: expect.stringMatching(/one|two/), error: undefined })
    expect((await stored(store)).length).toBeGreaterThan(2)
  })

  test.each([null, 'hello', 7])(
    'an agent that yields %j instead of an event is told what to yield',
    timeout,
    async (odd) => {
      const root = around(
        async function* (inner, context) {
          yield* inner.run(context)
          yield odd as never
        },
        new LlmAgent({ name: 'child', model: strictModel(scriptedModel(['one'])) }),
      )
      const { text, error } = await say(runnerOf(bounded(newStore()), root))
      expect(text).toBe('one')
      expect(error).toMatchObject({
        code: 'AGENT_ERROR',
        message: expect.stringContaining('yield events of createEvent()'),
      })
    },
  )

  test.each<[string, unknown]>([
    ['a number for text', { text: 7 }],
    ['a text for a call', { functionCall: 'x' }],
    ['a number for a call', { functionCall: 7 }],
    ['a call with a number for its id', { functionCall: { id: 7, name: 'x', args: {} } }],
    ['a call with a number for its name', { functionCall: { id: 'q', name: 7, args: {} } }],
    ['a text for an answer', { functionResponse: 'x' }],
    ['half an answer', { functionResponse: { id: 'q', name: 'x' } }],
    ['a text for code', { executableCode: 'x' }],
    ['code without any', { executableCode: { language: 'PYTHON' } }],
    ['a number for what code gave', { codeExecutionResult: { output: 7 } }],
    ['a text for data', { inlineData: 'x' }],
    ['data with a number for it', { inlineData: { data: 7, mimeType: 'image/png' } }],
  ])('the session continues after a model that gave %s', timeout, async (_what, part) => {
    const store = bounded(newStore())
    const later = (steps: Step[]) => process(store, { steps }).runner
    await say(later([{ parts: [{ text: 'hm' }, part as never] }, 'one'])).catch(() => {}) // refused or not
    const { text, error } = await say(later(['two']), 'again')
    expect({ text, error }).toEqual({ text: 'two', error: undefined })
  })

  describe('a callback that says calls', () => {
    test('without ids, before the agent: nothing is called', timeout, async () => {
      const { act, run } = actTool()
      const part = { functionCall: { name: 'act', args: {} } as never }
      const beforeAgent = () => ({ role: 'model' as const, parts: [part, part] })
      const { runner } = process(bounded(newStore()), { tools: [act], agent: { beforeAgent } })
      const { error, pending } = await say(runner)
      expect({ error, pending }).toEqual({ error: undefined, pending: [] })
      expect(run).not.toHaveBeenCalled()
    })

    test('after the agent: it stays at its end, and the session goes on', timeout, async () => {
      const { act, run } = actTool()
      const afterAgent = () => ({ role: 'model' as const, parts: [call('z', 'act')] })
      const { runner } = process(bounded(newStore()), { tools: [act], steps: ['one', 'two'], agent: { afterAgent } })
      expect((await say(runner)).error).toBeUndefined()
      expect((await say(runner, 'next')).error).toBeUndefined()
      expect(run).not.toHaveBeenCalled()
    })
  })
})

async function toArray(events: AsyncIterable<Event>): Promise<Event[]> {
  const all: Event[] = []
  for await (const event of events) all.push(event)
  return all
}
