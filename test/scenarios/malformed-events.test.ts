// Malformed events from custom agents, callbacks and models.
import { type Agent, approve, createEvent, type Event, LlmAgent, tool } from 'toolwright'
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
} from './approvals-kit.ts'
import { limitAppends } from './bounded-store.ts'

const timeout = { timeout: 10_000 }
const call = (id: string, name: string) => ({ functionCall: { id, name, args: {} } })
const eventOf = (role: 'model' | 'tool', part: object): Event =>
  createEvent({ content: { role, parts: [part] as never } })

function actTool() {
  const run = vi.fn(() => ({ acted: true }))
  return { act: tool({ name: 'act', description: 'Act', run }), run }
}

/** A custom agent around a child agent. */
function customAgent(
  run: (child: LlmAgent, ...args: Parameters<Agent['run']>) => ReturnType<Agent['run']>,
  child: LlmAgent,
) {
  const root: Agent = { name: 'root', subAgents: [child], run: (context) => run(child, context) }
  return root
}

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  describe("a custom agent that yields copies of its child's events", () => {
    const copying = (child: LlmAgent): Agent =>
      customAgent(async function* (inner, context) {
        for await (const event of inner.run(context)) yield { ...event, customMetadata: { seen: true } }
      }, child)

    test('completes and runs each call of the child once', timeout, async () => {
      const { act, run } = actTool()
      const model = scriptedModel([{ calls: [{ id: 'c1', name: 'act' }] }, 'done'])
      const runner = runnerOf(limitAppends(newStore()), copying(new LlmAgent({ name: 'child', model, tools: [act] })))
      expect((await sendMessage(runner)).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
    })

    test('pauses with its child, and one approval runs the call', timeout, async () => {
      const { refund, run } = refundTool()
      const model = scriptedModel([refundReply(5), 'done'])
      const runner = runnerOf(
        limitAppends(newStore()),
        copying(new LlmAgent({ name: 'child', model, tools: [refund] })),
      )
      const { pending } = await sendMessage(runner)
      expect(await runner.pending()).toEqual(pending)
      await sendMessage(runner, [approve(requestFor(pending))])
      expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    })
  })

  test('ends with AGENT_ERROR when a custom agent throws the pause of an earlier run again', timeout, async () => {
    const { refund } = refundTool()
    let collected: Promise<Event[]> | undefined
    let times = 0
    const model = scriptedModel([refundReply(5), 'done'])
    const root = customAgent(
      async function* (inner, context) {
        if (++times > 50) throw new Error('this does not end')
        collected ??= toArray(inner.run(context))
        yield* await collected
      },
      new LlmAgent({ name: 'child', model, tools: [refund] }),
    )
    const runner = runnerOf(limitAppends(newStore()), root)
    const { pending } = await sendMessage(runner)
    const { error } = await sendMessage(runner, [approve(requestFor(pending))])
    expect(error).toEqual({
      code: 'AGENT_ERROR',
      message: expect.stringContaining('An agent waits, but no request is pending'),
    })
    expect(times).toBeLessThan(5)
  })

  test('does not accept a response that a custom agent yields for a gated call of its child', timeout, async () => {
    const { refund, run } = refundTool()
    const model = scriptedModel([refundReply(5), 'done'])
    const refunded = { functionResponse: { id: 'c1', name: 'refund', response: { refunded: 5 } } }
    const root = customAgent(
      async function* (inner, context) {
        try {
          yield* inner.run(context)
        } catch (error) {
          yield eventOf('tool', refunded)
          throw error
        }
      },
      new LlmAgent({ name: 'child', model: strictModel(model), tools: [refund] }),
    )
    const runner = runnerOf(limitAppends(newStore()), root)
    await sendMessage(runner)
    expect(model.requests).toHaveLength(1) // no response was sent
    const pending = await runner.pending()
    expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
  })

  test('shows the model no open call that a custom agent yields in the name of its child', timeout, async () => {
    const model = scriptedModel(['fine'])
    const root = customAgent(
      async function* (inner, context) {
        const { content } = eventOf('model', call('q', 'search'))
        yield createEvent({ author: 'child', ...(content && { content }) })
        yield* inner.run(context)
      },
      new LlmAgent({ name: 'child', model: strictModel(model) }),
    )
    expect(await sendMessage(runnerOf(limitAppends(newStore()), root))).toMatchObject({
      text: 'fine',
      error: undefined,
    })
  })

  test.each<[string, object]>([
    ['a text as content', { content: 'hello' }],
    ['content without parts', { content: { role: 'model' } }],
    ['a null part', { content: { role: 'model', parts: [null] } }],
    [
      'a call without arguments',
      { author: 'child', content: { role: 'model', parts: [{ functionCall: { name: 'x' } }] } },
    ],
    ['a response without content', { content: { role: 'tool', parts: [{ functionResponse: { id: 'x' } }] } }],
    ['null actions', { actions: null }],
    ['a text as stateDelta', { actions: { stateDelta: 'abc' } }],
    ['a null stateDelta', { actions: { stateDelta: null } }],
    ['a BigInt in state', { actions: { stateDelta: { x: 1n } } }],
    ['a transfer', { actions: { transferToAgent: 'child' } }],
    ['a transfer to an object', { actions: { transferToAgent: { a: 1 } } }],
    ['endOfAgent', { actions: { endOfAgent: true } }],
    ['an errorCode that is no text', { errorCode: { a: 1 } }],
  ])('accepts the next message after a custom agent yields %s', timeout, async (_what, odd) => {
    const store = limitAppends(newStore())
    let isOdd = true
    const root = customAgent(
      async function* (inner, context) {
        if (isOdd) yield createEvent(odd)
        yield* inner.run(context)
      },
      new LlmAgent({ name: 'child', model: strictModel(scriptedModel(['one', 'two'])) }),
    )
    await sendMessage(runnerOf(store, root)).catch(() => {}) // rejected or not
    isOdd = false
    const { text, error } = await sendMessage(runnerOf(store, root), 'again')
    expect({ text, error }).toEqual({ text: expect.stringMatching(/one|two/), error: undefined })
    expect((await storedEvents(store)).length).toBeGreaterThan(2)
  })

  test.each([null, 'hello', 7])(
    'names createEvent() in the error when a custom agent yields %j',
    timeout,
    async (odd) => {
      const root = customAgent(
        async function* (inner, context) {
          yield* inner.run(context)
          yield odd as never
        },
        new LlmAgent({ name: 'child', model: strictModel(scriptedModel(['one'])) }),
      )
      const { text, error } = await sendMessage(runnerOf(limitAppends(newStore()), root))
      expect(text).toBe('one')
      expect(error).toMatchObject({
        code: 'AGENT_ERROR',
        message: expect.stringContaining('Yield events made by createEvent()'),
      })
    },
  )

  test.each<[string, unknown]>([
    ['a number as text', { text: 7 }],
    ['a text as functionCall', { functionCall: 'x' }],
    ['a number as functionCall', { functionCall: 7 }],
    ['a call with a numeric id', { functionCall: { id: 7, name: 'x', args: {} } }],
    ['a call with a numeric name', { functionCall: { id: 'q', name: 7, args: {} } }],
    ['a text as functionResponse', { functionResponse: 'x' }],
    ['a functionResponse without a response', { functionResponse: { id: 'q', name: 'x' } }],
    ['a text as executableCode', { executableCode: 'x' }],
    ['executableCode without code', { executableCode: { language: 'PYTHON' } }],
    ['a number as code output', { codeExecutionResult: { output: 7 } }],
    ['a text as inlineData', { inlineData: 'x' }],
    ['inlineData with a number as data', { inlineData: { data: 7, mimeType: 'image/png' } }],
  ])('accepts the next message after a model replies with %s', timeout, async (_what, part) => {
    const store = limitAppends(newStore())
    const later = (steps: ScriptedStep[]) => startProcess(store, { steps }).runner
    await sendMessage(later([{ parts: [{ text: 'hm' }, part as never] }, 'one'])).catch(() => {}) // rejected or not
    const { text, error } = await sendMessage(later(['two']), 'again')
    expect({ text, error }).toEqual({ text: 'two', error: undefined })
  })

  describe('with calls in the content of a callback,', () => {
    test('does not run calls that beforeAgent returns', timeout, async () => {
      const { act, run } = actTool()
      const part = { functionCall: { name: 'act', args: {} } as never }
      const beforeAgent = () => ({ role: 'model' as const, parts: [part, part] })
      const { runner } = startProcess(limitAppends(newStore()), { tools: [act], agent: { beforeAgent } })
      const { error, pending } = await sendMessage(runner)
      expect({ error, pending }).toEqual({ error: undefined, pending: [] })
      expect(run).not.toHaveBeenCalled()
    })

    test('does not run calls that afterAgent returns, and the session accepts the next message', timeout, async () => {
      const { act, run } = actTool()
      const afterAgent = () => ({ role: 'model' as const, parts: [call('z', 'act')] })
      const { runner } = startProcess(limitAppends(newStore()), {
        tools: [act],
        steps: ['one', 'two'],
        agent: { afterAgent },
      })
      expect((await sendMessage(runner)).error).toBeUndefined()
      expect((await sendMessage(runner, 'next')).error).toBeUndefined()
      expect(run).not.toHaveBeenCalled()
    })
  })
})

async function toArray(events: AsyncIterable<Event>): Promise<Event[]> {
  const all: Event[] = []
  for await (const event of events) all.push(event)
  return all
}
