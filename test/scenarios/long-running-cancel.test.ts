// Long-running calls whose run is cancelled: the handle is recorded, `cancel` of the tool is called, and the outcome
// is unknown.
import {
  type Event,
  type JsonObject,
  LlmAgent,
  longRunning,
  ParallelAgent,
  type Plugin,
  type RunnerOptions,
  respond,
  type SessionService,
  type Tool,
  type ToolOptions,
  timeout,
  tool,
  transferToAgent,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  finalResponses,
  refundTool,
  requestFor,
  runnerOf,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { silentLogger } from './kit.ts'

const isHandle = ({ content }: Event): boolean =>
  content?.parts.some(({ functionResponse }) => functionResponse?.willContinue) ?? false
const handle = { job: 7, status: 'started' }
const refundB: ScriptedStep = { calls: [{ id: 'r1', name: 'refund', args: { amount: 5 } }] }
const calls: ScriptedStep = { calls: [{ id: 'c1', name: 'start', args: {} }] }

function startTool(more: Partial<ToolOptions<undefined, undefined, unknown>> = {}): Tool {
  return longRunning(tool({ name: 'start', description: 'Start a job', run: () => handle, ...more }))
}

async function responses(store: SessionService): Promise<{ [id: string]: JsonObject }> {
  return finalResponses(await storedEvents(store))
}

const unknown = { status: 'unknown_outcome', errorCode: 'UNKNOWN_OUTCOME', handle }

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test('records the handle of a cancelled long-running call and calls cancel of its tool', async () => {
    const store = newStore()
    const cancel = vi.fn()
    const { runner } = startProcess(store, { tools: [startTool({ cancel })], steps: [calls] })
    const { invocationId } = await sendMessage(runner)
    await runner.cancel(where)
    expect(await responses(store)).toEqual({
      c1: { ...unknown, error: expect.stringContaining('may still take effect') },
    })
    const key = { idempotencyKey: `${invocationId}/c1`, args: {} }
    expect(cancel).toHaveBeenCalledExactlyOnceWith({ handle, ...key, context: expect.anything() })
  })

  test('calls cancel with the arguments that the body got', async () => {
    const cancel = vi.fn()
    const parameters = z.object({
      at: z.iso.datetime().transform((text) => new Date(text)),
      size: z.number().default(5),
    })
    const start = tool({
      name: 'start',
      description: 'Start',
      isLongRunning: true,
      parameters,
      cancel,
      run: () => handle,
    })
    const step = { calls: [{ id: 'c1', name: 'start', args: { at: '2026-01-31T12:00:00Z' } }] }
    const { runner } = startProcess(newStore(), { tools: [start], steps: [step] })
    await sendMessage(runner)
    await runner.cancel(where)
    const args = { at: new Date('2026-01-31T12:00:00Z'), size: 5 }
    expect(cancel).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ args }))
  })

  test('records the state delta of a body with its handle, and not again on cancel', async () => {
    const store = newStore()
    const noted = startTool({
      run: (_args, { state }) => {
        state.set('job', 7)
        return handle
      },
    })
    const hangs = tool({ name: 'hang', description: 'Hang', run: () => new Promise(() => {}) })
    const setTimer = (callback: () => void, ms: number): (() => void) => {
      const timer = setTimeout(callback, ms === 1_000 ? 0 : ms) // how long a response waits for its siblings
      return () => clearTimeout(timer)
    }
    const steps = [
      {
        calls: [
          { id: 'c1', name: 'start', args: {} },
          { id: 'c2', name: 'hang' },
        ],
      },
    ]
    const { runner } = startProcess(store, { tools: [noted, hangs], steps, runner: { ports: { setTimer } } })
    for await (const event of runner.run({ ...where, message: 'go' })) {
      if (isHandle(event)) await runner.cancel(where)
    }
    const written = (await storedEvents(store)).flatMap(({ actions }) => actions.stateDelta ?? [])
    expect(written).toEqual([{ job: 7 }])
    expect(await responses(store)).toMatchObject({ c1: unknown, c2: { errorCode: 'UNKNOWN_OUTCOME' } })
  })

  test.each(['before it is stored', 'while it is stored'])(
    'records the handle and calls cancel of the tool when the run is cancelled after the body returned, %s',
    async (when) => {
      const cancel = vi.fn()
      const store = newStore()
      const append = store.append.bind(store)
      let isCancelled = false
      const cancelOnce = (): void => {
        if (!isCancelled) void story.runner.cancel(where)
        isCancelled = true
      }
      if (when === 'while it is stored') {
        store.append = (...args) => {
          if (args[2].some(({ event }) => event && isHandle(event))) cancelOnce()
          return append(...args)
        }
      }
      const watch: Plugin = { name: 'watch', onEvent: ({ event }) => void (isHandle(event) && cancelOnce()) }
      const plugins = when === 'before it is stored' ? [watch] : []
      const story = startProcess(store, { tools: [startTool({ cancel })], steps: [calls], runner: { plugins } })
      await sendMessage(story.runner)
      await vi.waitFor(async () => expect(await responses(store)).toMatchObject({ c1: unknown }))
      expect(cancel).toHaveBeenCalledOnce()
    },
  )

  test('calls cancel of the tool in the process that cancels', async () => {
    const store = newStore()
    await sendMessage(startProcess(store, { tools: [startTool()], steps: [calls] }).runner)
    const cancel = vi.fn()
    const other = startProcess(store, { tools: [timeout(startTool({ cancel }), 1_000)] })
    await other.runner.cancel(where)
    expect(await responses(store)).toMatchObject({ c1: unknown })
    expect(cancel).toHaveBeenCalledOnce()
    expect(cancel.mock.calls[0]?.[0]).toMatchObject({ handle })
  })

  test('records the handle when new text cancels the call', async () => {
    const store = newStore()
    const cancel = vi.fn()
    const runner: Partial<RunnerOptions> = { whilePaused: 'cancel' }
    const story = startProcess(store, { tools: [startTool({ cancel })], steps: [calls, 'hello'], runner })
    await sendMessage(story.runner)
    expect((await sendMessage(story.runner, 'forget it')).text).toBe('hello')
    expect(await responses(store)).toMatchObject({ c1: unknown })
    expect(cancel).toHaveBeenCalledOnce()
  })

  test('answers CANCELLED with the handle for a tool without side effects', async () => {
    const store = newStore()
    const { runner } = startProcess(store, { tools: [startTool({ effect: 'none' })], steps: [calls] })
    await sendMessage(runner)
    await runner.cancel(where)
    expect(await responses(store)).toEqual({ c1: { error: expect.any(String), errorCode: 'CANCELLED', handle } })
  })

  test.each<[string, () => unknown]>([
    ['throws', () => Promise.reject(new Error('no such job'))],
    ['never settles', () => new Promise(() => {})],
  ])('ends the run when cancel of the tool %s', async (_what, cancel) => {
    const store = newStore()
    const setTimer = (callback: () => void, ms: number): (() => void) => {
      const timer = setTimeout(callback, Math.min(ms, 1))
      return () => clearTimeout(timer)
    }
    const logger = { ...silentLogger, warn: vi.fn() }
    const story = { tools: [startTool({ cancel })], steps: [calls], runner: { ports: { setTimer }, logger } }
    const { runner } = startProcess(store, story)
    await sendMessage(runner)
    await runner.cancel(where)
    expect(await responses(store)).toMatchObject({ c1: unknown })
    expect(logger.warn).toHaveBeenCalledWith(
      expect.stringContaining('cancel()'),
      ...(_what === 'throws' ? [expect.anything()] : []),
    )
  })

  test('records the handle and calls cancel of the tool when a sibling call transfers', async () => {
    const store = newStore()
    const cancel = vi.fn()
    const model = scriptedModel([
      {
        calls: [
          { id: 'c1', name: 'start' },
          { id: 't1x', name: 'transfer_to_agent', args: { agent_name: 'helper' } },
        ],
      },
      'I help.',
    ])
    const helper = new LlmAgent({ name: 'helper', description: 'Helps' })
    const agent = new LlmAgent({ name: 'agent', model, tools: [startTool({ cancel })], subAgents: [helper] })
    const { text } = await sendMessage(runnerOf(store, agent))
    expect(text).toBe('I help.')
    expect(await responses(store)).toMatchObject({ c1: unknown })
    expect(cancel).toHaveBeenCalledOnce()
  })

  test('calls cancel of the tool when the invocation ends because another agent no longer exists', async () => {
    const store = newStore()
    const { refund } = refundTool()
    const agents = (cancel: () => void) => [
      new LlmAgent({ name: 'a', model: scriptedModel([calls]), tools: [startTool({ cancel })] }),
      new LlmAgent({ name: 'b', model: scriptedModel([refundB]), tools: [refund] }),
    ]
    await sendMessage(runnerOf(store, new ParallelAgent({ name: 'both', subAgents: agents(() => {}) })))
    const cancel = vi.fn()
    const after = new ParallelAgent({ name: 'both', subAgents: agents(cancel).slice(0, 1) })
    for await (const _ of runnerOf(store, after).resume(where));
    expect(await responses(store)).toMatchObject({ c1: unknown, r1: { errorCode: 'NOT_FOUND' } })
    expect(cancel).toHaveBeenCalledOnce()
  })

  test('does not call cancel of the tool after a failed transfer', async () => {
    const store = newStore()
    const cancel = vi.fn()
    const model = scriptedModel([
      {
        calls: [
          { id: 'c1', name: 'start' },
          { id: 'tx', name: 'transfer_to_agent', args: { agent_name: 'nobody' } },
        ],
      },
    ])
    const agent = new LlmAgent({ name: 'agent', model, tools: [startTool({ cancel }), transferToAgent()] })
    const { pending } = await sendMessage(runnerOf(store, agent))
    expect(pending).toMatchObject([{ kind: 'longRunning', functionCallId: 'c1' }])
    expect(cancel).not.toHaveBeenCalled()
  })

  test('does not call cancel of the tool after the result arrived', async () => {
    const store = newStore()
    const cancel = vi.fn()
    const { runner, model } = startProcess(store, { tools: [startTool({ cancel })], steps: [calls, 'done'] })
    const { pending } = await sendMessage(runner)
    expect((await sendMessage(runner, [respond(requestFor(pending), { finished: true })])).text).toBe('done')
    await runner.cancel(where)
    expect(cancel).not.toHaveBeenCalled()
    expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ finished: true })
  })

  test('answers CANCELLED without a handle when the body has not started', async () => {
    const store = newStore()
    const cancel = vi.fn()
    const gated = startTool({ cancel, requiresConfirmation: true })
    const { runner } = startProcess(store, { tools: [gated], steps: [calls] })
    await sendMessage(runner)
    await runner.cancel(where)
    expect(await responses(store)).toEqual({ c1: { error: expect.any(String), errorCode: 'CANCELLED' } })
    expect(cancel).not.toHaveBeenCalled()
  })
})
