// Policies around agent tools: each policy applies to the whole agent, across pauses inside it and in another process.
import {
  agentTool,
  approve,
  cached,
  concurrency,
  confirm,
  type Event,
  InMemorySessionService,
  LlmAgent,
  longRunning,
  ParallelAgent,
  type PendingRequest,
  rateLimit,
  redact,
  respond,
  retry,
  SequentialAgent,
  type Tool,
  type ToolContext,
  ToolwrightError,
  timeout,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { finalResponses, requestFor, sendMessage, startProcess, storedEvents, where } from './approvals-kit.ts'
import { createDeferred, ManualTimers, plainTool, responsesOf, runScenario, waitUntil } from './kit.ts'

const forever = (): Promise<never> => new Promise(() => {})
const call = (name: string, id = 'c1', request = 'Help!'): ScriptedStep => ({
  calls: [{ id, name, args: { request } }],
})
const helperWith = (steps: readonly ScriptedStep[], tools: readonly Tool[] = []) => {
  const model = scriptedModel(steps)
  return { model, helper: new LlmAgent({ name: 'helper', model, tools }) }
}
const inside = (events: readonly Event[]) => events.filter(({ isolationScope }) => isolationScope)

/** A store that rejects one append and every append after it, until `revive()`. */
class DyingStore extends InMemorySessionService {
  diesAt: ((events: readonly Event[]) => boolean) | undefined
  isDead = false
  override append(...args: Parameters<InMemorySessionService['append']>): Promise<number> {
    const events = args[2].flatMap(({ event }) => (event ? [event] : []))
    if (this.diesAt?.(events)) this.isDead = true
    if (this.isDead) return Promise.reject(new ToolwrightError('STORAGE', 'The disk is gone.'))
    return super.append(...args)
  }
  revive(): void {
    this.diesAt = undefined
    this.isDead = false
  }
}
const outerResponse = (id: string) => (events: readonly Event[]) =>
  events.some((event) => !event.isolationScope && event.content?.parts.some((one) => one.functionResponse?.id === id))

async function resumed(store: InMemorySessionService, story: Parameters<typeof startProcess>[1]): Promise<Event[]> {
  store instanceof DyingStore && store.revive()
  const events: Event[] = []
  for await (const event of startProcess(store, story).runner.resume(where)) events.push(event)
  return events
}

describe('timeout() around an agent tool', () => {
  test("ends the agent with TIMEOUT and lets the caller's agent continue", async () => {
    const timers = new ManualTimers()
    const { helper } = helperWith([forever])
    const playing = runScenario({
      tools: [timeout(agentTool(helper), 500)],
      steps: [call('helper'), 'I go on without.'],
      runner: { ports: timers.ports },
    })
    await timers.fire(500)
    const { response, text, events } = await playing
    expect(response).toEqual({ error: 'helper timed out after 500 ms. Raise timeoutMs.', errorCode: 'TIMEOUT' })
    expect(text).toBe('I go on without.')
    expect(inside(events).at(-1)).toMatchObject({ errorCode: 'TIMEOUT', nodeInfo: { path: 'agent/helper@c1' } })
  })

  test('aborts a body inside the agent and answers its call with unknown_outcome', async () => {
    const timers = new ManualTimers()
    const begun = createDeferred()
    const stopped = createDeferred()
    const run = (_: unknown, { signal }: ToolContext): Promise<never> => {
      signal.addEventListener('abort', () => stopped.resolve())
      begun.resolve()
      return forever()
    }
    const pay = plainTool('pay', run, { effect: 'atMostOnce' })
    const { helper, model } = helperWith([{ calls: [{ id: 'p1', name: 'pay' }] }, 'never'], [pay])
    const playing = runScenario({
      tools: [timeout(agentTool(helper), 500)],
      calls: [{ id: 'c1', name: 'helper', args: { request: 'Pay' } }],
      runner: { ports: timers.ports },
    })
    await begun.promise
    await timers.fire(500)
    await stopped.promise
    const { responses, text } = await playing
    expect(responses.map(({ id, response }) => [id, response])).toEqual([
      [
        'p1',
        {
          status: 'unknown_outcome',
          error: 'The agent timed out while this call was running; it may have taken effect.',
          errorCode: 'UNKNOWN_OUTCOME',
        },
      ],
      [
        'c1',
        {
          status: 'unknown_outcome',
          error: 'helper timed out after 500 ms and may have taken effect. Check the outcome before you call it again.',
          errorCode: 'TIMEOUT',
        },
      ],
    ])
    expect(text).toBe('done')
    expect(model.requests).toHaveLength(1)
  })

  test('keeps the finished response of a sibling call and drops a late result', async () => {
    const timers = new ManualTimers()
    const begun = createDeferred()
    const late = createDeferred<string>()
    const fast = plainTool('fast', () => 'ok')
    const slow = plainTool('slow', () => {
      begun.resolve()
      return late.promise
    })
    const { helper } = helperWith(
      [
        {
          calls: [
            { id: 'f1', name: 'fast' },
            { id: 's1', name: 'slow' },
          ],
        },
      ],
      [fast, slow],
    )
    const playing = runScenario({
      tools: [timeout(agentTool(helper), 500)],
      calls: [{ id: 'c1', name: 'helper', args: { request: 'Go' } }],
      runner: { ports: timers.ports },
    })
    await begun.promise
    await timers.fire(500)
    const { events } = await playing
    late.resolve('too late')
    expect(finalResponses(events)).toEqual({
      f1: { result: 'ok' },
      s1: { error: 'The agent timed out before this call was finished.', errorCode: 'CANCELLED' },
      c1: { error: 'helper timed out after 500 ms. Raise timeoutMs.', errorCode: 'TIMEOUT' },
    })
  })

  test('does not end an agent that finishes in time and does not count the time of a pause', async () => {
    const timers = new ManualTimers()
    const store = new InMemorySessionService()
    const refund = plainTool('refund', () => 'refunded', { requiresConfirmation: true })
    const { helper } = helperWith([{ calls: [{ name: 'refund' }] }, 'Refunded.'], [refund])
    const { runner } = startProcess(store, {
      tools: [timeout(agentTool(helper), 500)],
      steps: [call('helper'), 'ok'],
      runner: { ports: timers.ports },
    })
    const { pending } = await sendMessage(runner)
    expect(timers.count(500)).toBe(0)
    const { text, events } = await sendMessage(runner, [approve(requestFor(pending))])
    expect([text, finalResponses(events).c1, timers.count(500)]).toEqual(['ok', { text: 'Refunded.' }, 0])
  })

  test('cancels a long-running call inside the agent and ends without a pending request', async () => {
    const timers = new ManualTimers()
    const cancel = vi.fn()
    const job = plainTool('job', () => ({ ticket: 7 }), { effect: 'atMostOnce', isLongRunning: true, cancel })
    const slow = plainTool('slow', forever, { effect: 'none' })
    const { helper } = helperWith(
      [
        {
          calls: [
            { id: 'j1', name: 'job' },
            { id: 's1', name: 'slow' },
          ],
        },
      ],
      [job, slow],
    )
    const playing = runScenario({
      tools: [timeout(agentTool(helper), 500)],
      calls: [{ id: 'c1', name: 'helper', args: { request: 'Go' } }],
      runner: { ports: timers.ports },
    })
    await timers.fire(1_000) // the handle is recorded
    await timers.fire(500)
    const { events, text } = await playing
    expect(cancel).toHaveBeenCalledOnce()
    expect(finalResponses(events)).toMatchObject({
      j1: { status: 'unknown_outcome', handle: { ticket: 7 } },
      c1: { errorCode: 'TIMEOUT' },
    })
    expect(text).toBe('done')
  })

  test('ends only the inner agent when the timeout of the inner agent expires', async () => {
    const timers = new ManualTimers()
    const { helper } = helperWith([forever])
    const middle = new LlmAgent({
      name: 'middle',
      model: scriptedModel([call('helper', 'h1'), 'The helper was late.']),
      tools: [timeout(agentTool(helper), 300)],
    })
    const playing = runScenario({
      tools: [timeout(agentTool(middle), 500)],
      steps: [call('middle'), 'ok'],
      runner: { ports: timers.ports },
    })
    await timers.fire(300)
    expect(finalResponses((await playing).events)).toEqual({
      h1: { error: 'helper timed out after 300 ms. Raise timeoutMs.', errorCode: 'TIMEOUT' },
      c1: { text: 'The helper was late.' },
    })
  })

  test('ends both agents when the timeout of the outer agent expires', async () => {
    const timers = new ManualTimers()
    const begun = createDeferred()
    const hang = (): Promise<never> => {
      begun.resolve()
      return forever()
    }
    const { helper } = helperWith([hang])
    const middle = new LlmAgent({
      name: 'middle',
      model: scriptedModel([call('helper', 'h1'), 'never']),
      tools: [timeout(agentTool(helper), 700)],
    })
    const playing = runScenario({
      tools: [timeout(agentTool(middle), 500)],
      steps: [call('middle'), 'ok'],
      runner: { ports: timers.ports },
    })
    await begun.promise
    await timers.fire(500)
    const { events, text } = await playing
    expect(finalResponses(events)).toMatchObject({ h1: { errorCode: 'CANCELLED' }, c1: { errorCode: 'TIMEOUT' } })
    expect(text).toBe('ok')
  })

  test('answers CANCELLED when the run is cancelled', async () => {
    const modelCalled = createDeferred()
    const { helper } = helperWith([
      () => {
        modelCalled.resolve()
        return forever()
      },
    ])
    const controller = new AbortController()
    const playing = runScenario({
      tools: [timeout(agentTool(helper), 60_000)],
      steps: [call('helper'), 'never'],
      signal: controller.signal,
    })
    await modelCalled.promise
    controller.abort()
    const { response, error } = await playing
    expect([response.errorCode, error?.code]).toEqual(['CANCELLED', 'CANCELLED'])
  })

  test('answers a recorded TIMEOUT in another process without asking the agent again', async () => {
    const timers = new ManualTimers()
    const store = new DyingStore()
    store.diesAt = outerResponse('c1')
    const first = startProcess(store, {
      tools: [timeout(agentTool(helperWith([forever]).helper), 500)],
      steps: [call('helper')],
      runner: { ports: timers.ports },
    })
    const dying = sendMessage(first.runner).catch((error) => error.code)
    await timers.fire(500)
    expect(await dying).toBe('STORAGE')
    const { helper, model } = helperWith(['never'])
    await resumed(store, { tools: [timeout(agentTool(helper), 500)], steps: ['ok'] })
    expect(finalResponses(await storedEvents(store)).c1).toEqual({
      error: 'helper timed out after 500 ms. Raise timeoutMs.',
      errorCode: 'TIMEOUT',
    })
    expect(model.requests).toHaveLength(0)
  })
})

describe('retry() around an agent tool', () => {
  const twice = (tool: Tool) => retry(tool, { attempts: 2, delayMs: 0 })

  test('runs a failed agent again with its earlier events', async () => {
    const pay = vi.fn(() => 'paid')
    const { helper, model } = helperWith(
      [{ calls: [{ name: 'pay' }] }, { error: 'overloaded' }, 'Paid once.'],
      [plainTool('pay', pay)],
    )
    const { responses, text } = await runScenario({ tools: [twice(agentTool(helper))], steps: [call('helper'), 'ok'] })
    expect(responses.at(-1)?.response).toEqual({ text: 'Paid once.' })
    expect(pay).toHaveBeenCalledOnce()
    expect(model.requests[2]?.contents.map(({ role }) => role)).toEqual(['user', 'model', 'tool', 'user'])
    expect(text).toBe('ok')
  })

  test('answers with the last error after all attempts fail', async () => {
    const { helper, model } = helperWith([{ error: 'first' }, { error: 'second' }, 'never'])
    const { response } = await runScenario({ tools: [twice(agentTool(helper))], steps: [call('helper'), 'ok'] })
    expect(response).toMatchObject({ error: 'second', errorCode: 'EXECUTION_FAILED' })
    expect(model.requests).toHaveLength(2)
  })

  test('does not run the agent again after a success or when `when` returns false', async () => {
    const good = helperWith(['42', 'never'])
    await runScenario({ tools: [twice(agentTool(good.helper))], steps: [call('helper'), 'ok'] })
    const bad = helperWith([{ error: 'no' }, 'never'])
    const picky = retry(agentTool(bad.helper), { attempts: 2, delayMs: 0, when: () => false })
    await runScenario({ tools: [picky], steps: [call('helper'), 'ok'] })
    expect([good.model.requests.length, bad.model.requests.length]).toEqual([1, 1])
  })

  test('restarts the counts of maxIterations and output corrections for each attempt', async () => {
    const { helper: looping, model } = helperWith(
      [call('look', 'l1'), call('look', 'l2'), 'seen'],
      [plainTool('look', () => 1)],
    )
    const limited = new LlmAgent({ ...looping.options, maxIterations: 2 })
    const wrong = scriptedModel(['no', 'no', 'no', '{"n":1}'])
    const typed = new LlmAgent({ name: 'typed', model: wrong, outputSchema: z.object({ n: z.number() }) })
    const { responses } = await runScenario({
      tools: [twice(agentTool(limited)), twice(agentTool(typed))],
      steps: [call('helper', 'c1'), call('typed', 'c2'), 'ok'],
    })
    expect(responses.filter(({ id }) => id === 'c1' || id === 'c2').map(({ response }) => response)).toEqual([
      { text: 'seen' },
      { n: 1 },
    ])
    expect(model.requests).toHaveLength(3)
  })

  test('restarts the count of set_model_response corrections for each attempt', async () => {
    const wrong = { calls: [{ name: 'set_model_response', args: { n: 'x' } }] }
    const model = scriptedModel([wrong, wrong, wrong, { calls: [{ name: 'set_model_response', args: { n: 1 } }] }])
    const typed = new LlmAgent({
      name: 'typed',
      model,
      outputSchema: z.object({ n: z.number() }),
      tools: [plainTool('other', () => 1)],
    })
    const { responses } = await runScenario({ tools: [twice(agentTool(typed))], steps: [call('typed'), 'ok'] })
    expect(responses.at(-1)?.response).toEqual({ n: 1 })
  })

  test('resumes a workflow agent at the child that failed', async () => {
    const one = scriptedModel(['first done', 'never'])
    const two = scriptedModel([{ error: 'down' }, 'second done'])
    const workflow = new SequentialAgent({
      name: 'flow',
      subAgents: [new LlmAgent({ name: 'one', model: one }), new LlmAgent({ name: 'two', model: two })],
    })
    const { response } = await runScenario({ tools: [twice(agentTool(workflow))], steps: [call('flow'), 'ok'] })
    expect(response).toEqual({ text: 'second done' })
    expect([one.requests.length, two.requests.length]).toEqual([1, 2])
  })

  test('runs the agent again after a timeout, with a new deadline', async () => {
    const timers = new ManualTimers()
    const { helper } = helperWith([forever, 'in time'])
    const playing = runScenario({
      tools: [retry(timeout(agentTool(helper), 500), { attempts: 2, delayMs: 0 }, timers.ports)],
      steps: [call('helper'), 'ok'],
      runner: { ports: timers.ports },
    })
    await timers.fire(500)
    expect((await playing).responses.at(-1)?.response).toEqual({ text: 'in time' })
    expect(timers.count(500)).toBe(0)
  })

  test('does not retry after MAX_LLM_CALLS', async () => {
    const { helper } = helperWith([{ calls: [{ name: 'look' }] }, 'never'], [plainTool('look', () => 1)])
    const { runner } = startProcess(new InMemorySessionService(), {
      tools: [retry(agentTool(helper), { attempts: 5, delayMs: 0 })],
      steps: [call('helper'), 'never'],
    })
    const { events } = await runner.complete({ ...where, message: 'go', runConfig: { maxLlmCalls: 2 } })
    expect(inside(events).filter(({ errorCode }) => errorCode === 'MAX_LLM_CALLS')).toHaveLength(1)
  })

  test('resumes the second attempt after an approval in another process', async () => {
    const store = new InMemorySessionService()
    const refund = vi.fn(() => 'refunded')
    const tools = [plainTool('refund', refund, { requiresConfirmation: true })]
    const first = startProcess(store, {
      tools: [
        twice(agentTool(helperWith([{ error: 'down' }, { calls: [{ id: 'r1', name: 'refund' }] }], tools).helper)),
      ],
      steps: [call('helper')],
    })
    const { pending } = await sendMessage(first.runner)
    expect(pending).toHaveLength(1)
    const { helper } = helperWith(['Refunded.'], tools)
    const second = startProcess(store, { tools: [twice(agentTool(helper))], steps: ['ok'] })
    await sendMessage(second.runner, [approve(pending[0] as PendingRequest)])
    expect(finalResponses(await storedEvents(store)).c1).toEqual({ text: 'Refunded.' })
    expect(refund).toHaveBeenCalledOnce()
  })

  test.each([
    [
      'before the attempt is opened again',
      (events: readonly Event[]) => inside(events).length > 0 && events[0]?.author === 'agent',
    ],
    [
      'after the agent has failed',
      (events: readonly Event[]) => events.some(({ errorCode }) => errorCode === 'MODEL_ERROR'),
    ],
    ['before the response', outerResponse('c1')],
  ])('loses and repeats nothing when the process dies %s', async (_, diesAt) => {
    const store = new DyingStore()
    const pay = vi.fn(() => 'paid')
    const tools = [plainTool('pay', pay)]
    let openings = 0
    store.diesAt = (events) => {
      if (!diesAt(events)) return false
      return events[0]?.author !== 'agent' || events[0].content?.role === 'tool' || ++openings === 2
    }
    const steps: ScriptedStep[] = [{ calls: [{ id: 'p1', name: 'pay' }] }, { error: 'down' }, 'Paid.']
    const one = helperWith(steps, tools)
    const first = startProcess(store, { tools: [twice(agentTool(one.helper))], steps: [call('helper')] })
    await expect(sendMessage(first.runner)).rejects.toMatchObject({ code: 'STORAGE' })
    const two = helperWith(['Paid.'], tools)
    await resumed(store, { tools: [twice(agentTool(two.helper))], steps: ['ok'] })
    const events = await storedEvents(store)
    expect(finalResponses(events)).toEqual({ p1: { result: 'paid' }, c1: { text: 'Paid.' } })
    expect(responsesOf(events)).toHaveLength(2)
    expect(pay).toHaveBeenCalledOnce()
  })
})

describe('cached() around an agent tool', () => {
  test('answers an equal call from the cache and records the response', async () => {
    const { helper, model } = helperWith(['42', 'never'])
    const { responses } = await runScenario({
      tools: [cached(agentTool(helper))],
      steps: [call('helper', 'c1'), call('helper', 'c2'), 'ok'],
    })
    expect(responses.map(({ id, response }) => [id, response])).toEqual([
      ['c1', { text: '42' }],
      ['c2', { text: '42' }],
    ])
    expect(model.requests).toHaveLength(1)
  })

  test('applies skipSummarization to a cached answer', async () => {
    const { helper, model } = helperWith(['42', 'never'])
    const outer = scriptedModel([call('helper', 'c1'), call('helper', 'c2'), 'never'])
    const { runner } = startProcess(new InMemorySessionService(), {
      tools: [cached(agentTool(helper, { skipSummarization: true }))],
      agent: { model: outer },
    })
    expect([(await sendMessage(runner)).text, (await sendMessage(runner)).text]).toEqual(['42', '42'])
    expect([model.requests.length, outer.requests.length]).toEqual([1, 2])
  })

  test('does not cache a failed call', async () => {
    const { helper } = helperWith([{ error: 'down' }, '42'])
    const { responses } = await runScenario({
      tools: [cached(agentTool(helper))],
      steps: [call('helper', 'c1'), call('helper', 'c2'), 'ok'],
    })
    expect(responses.map(({ response }) => response)).toMatchObject([{ error: 'down' }, { text: '42' }])
  })

  test('answers a resumed agent with its own result, not with a result cached during the pause', async () => {
    const store = new InMemorySessionService()
    const job = plainTool('job', () => ({ ticket: 1 }), { isLongRunning: true })
    const { helper } = helperWith([{ calls: [{ id: 'j1', name: 'job' }] }, '42', 'from the result'], [job])
    const { runner } = startProcess(store, {
      tools: [cached(agentTool(helper))],
      steps: [call('helper', 'c1'), call('helper', 'c2'), 'second', 'first'],
    })
    const { pending } = await sendMessage(runner)
    await runner.complete({ ...where, message: 'and now?' })
    await sendMessage(runner, [respond(pending[0] as PendingRequest, { done: true })])
    expect(finalResponses(await storedEvents(store))).toMatchObject({
      c1: { text: 'from the result' },
      c2: { text: '42' },
    })
  })
})

describe('concurrency() and rateLimit() around an agent tool', () => {
  const both: ScriptedStep = {
    calls: ['x1', 'y1'].map((id) => ({ id, name: 'helper', args: { request: id } })),
  }

  test('run one agent at a time with concurrency 1', async () => {
    let running = 0
    let most = 0
    const step = async () => {
      most = Math.max(most, ++running)
      await Promise.resolve()
      running--
      return 'ok'
    }
    const { helper } = helperWith([step, step])
    const { responses } = await runScenario({ tools: [concurrency(agentTool(helper), 1)], steps: [both, 'ok'] })
    expect(responses.map(({ response }) => response)).toEqual([{ text: 'ok' }, { text: 'ok' }])
    expect(most).toBe(1)
  })

  test('free the concurrency slot of a paused agent', async () => {
    const store = new InMemorySessionService()
    const ask = plainTool('ask', () => 'yes', { requiresConfirmation: true })
    const { helper } = helperWith([{ calls: [{ name: 'ask' }] }, 'second', 'first'], [ask])
    const { runner } = startProcess(store, { tools: [concurrency(agentTool(helper), 1)], steps: [both, 'ok'] })
    const { pending } = await sendMessage(runner)
    expect(finalResponses(await storedEvents(store))).toMatchObject({ y1: { text: 'second' } })
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(finalResponses(await storedEvents(store))).toMatchObject({ x1: { text: 'first' } })
  })

  test('delay the start of the next agent with rateLimit', async () => {
    const timers = new ManualTimers()
    const { helper, model } = helperWith(['one', 'two'])
    let now = 0
    const clocked = rateLimit(agentTool(helper), { max: 1, perMs: 700 }, { ...timers.ports, monotonicNow: () => now })
    const playing = runScenario({ tools: [clocked], steps: [both, 'ok'] })
    await waitUntil(() => timers.count(700) === 1)
    expect(model.requests).toHaveLength(1)
    now = 700
    await timers.fire(700)
    expect((await playing).responses.map(({ response }) => response)).toEqual([{ text: 'one' }, { text: 'two' }])
  })

  test('do not count an agent that resumes after a pause in rateLimit', async () => {
    const timers = new ManualTimers()
    const ask = plainTool('ask', () => 'yes', { requiresConfirmation: true })
    const { helper } = helperWith([{ calls: [{ name: 'ask' }] }, 'done'], [ask])
    const limited = rateLimit(agentTool(helper), { max: 1, perMs: 700 }, { ...timers.ports, monotonicNow: () => 0 })
    const { runner } = startProcess(new InMemorySessionService(), { tools: [limited], steps: [call('helper'), 'ok'] })
    const { pending } = await sendMessage(runner)
    const { text } = await sendMessage(runner, [approve(requestFor(pending))])
    expect([text, timers.count(700)]).toEqual(['ok', 0])
  })
})

describe('cancelling an agent tool that ignores its signal', () => {
  const policies: [string, (helper: Tool) => Tool][] = [
    ['concurrency', (helper) => concurrency(helper, 1)],
    ['cached', (helper) => cached(helper, { scope: 'user' })],
  ]
  test.each(policies)('does not block the next call behind %s', async (_, policy) => {
    const begun = createDeferred()
    const hang = (): Promise<never> => {
      begun.resolve()
      return forever()
    }
    const { helper } = helperWith([hang, 'Here I am.'])
    const store = new InMemorySessionService()
    const { runner } = startProcess(store, {
      tools: [policy(agentTool(helper))],
      steps: [call('helper'), call('helper', 'c2'), 'ready'],
    })
    const first = sendMessage(runner)
    await begun.promise
    await runner.cancel(where)
    expect((await first).error?.code).toBe('CANCELLED')
    expect((await sendMessage(runner)).text).toBe('ready')
    expect(finalResponses(await storedEvents(store))).toMatchObject({
      c1: { errorCode: 'CANCELLED' },
      c2: { text: 'Here I am.' },
    })
  })
})

test('redact() hides parts of the answer from the model and callbacks, across a pause inside the agent', async () => {
  const seen: unknown[] = []
  const ask = plainTool('ask', () => 'yes', { requiresConfirmation: true })
  const model = scriptedModel([
    { calls: [{ name: 'ask' }] },
    { calls: [{ name: 'set_model_response', args: { name: 'Ada', ssn: '1' } }] },
  ])
  const outputSchema = z.object({ name: z.string(), ssn: z.string() })
  const helper = new LlmAgent({ name: 'helper', model, tools: [ask], outputSchema })
  const outer = scriptedModel([call('helper'), 'ok'])
  const { runner } = startProcess(new InMemorySessionService(), {
    tools: [redact(agentTool(helper), { result: ['ssn'], args: ['request'] })],
    agent: { model: outer, afterTool: ({ args, result }) => void seen.push([args, result]) },
  })
  const { pending } = await sendMessage(runner)
  await sendMessage(runner, [approve(requestFor(pending))])
  expect(seen).toEqual([[{ request: '[redacted]' }, { name: 'Ada', ssn: '[redacted]' }]])
  expect(JSON.stringify(outer.requests[1]?.contents)).toContain('"ssn":"[redacted]"')
})

test('confirm() requests one confirmation before the agent starts', async () => {
  const store = new InMemorySessionService()
  const ask = plainTool('ask', () => 'yes', { requiresConfirmation: true })
  const { helper, model } = helperWith([{ calls: [{ name: 'ask' }] }, '42'], [ask])
  const { runner } = startProcess(store, {
    tools: [confirm(agentTool(helper), 'Ask the helper?')],
    steps: [call('helper'), 'ok'],
  })
  const { pending } = await sendMessage(runner)
  expect(pending).toMatchObject([{ hint: 'Ask the helper?' }])
  expect(model.requests).toHaveLength(0)
  const next = await sendMessage(runner, [approve(requestFor(pending))])
  expect(next.pending).toMatchObject([{ tool: 'ask' }])
  expect((await sendMessage(runner, [approve(requestFor(next.pending))])).text).toBe('ok')
  expect(finalResponses(await storedEvents(store)).c1).toEqual({ text: '42' })
})

test('an agent rejects longRunning() around an agent tool when the agent is built', () => {
  const tool = longRunning(agentTool(helperWith([]).helper))
  expect(() => new LlmAgent({ name: 'boss', tools: [tool] })).toThrow(
    'Tool "helper" is an agent tool and cannot be long-running',
  )
})

test('an agent tool answers once with all policies around it', async () => {
  const workflow = new ParallelAgent({
    name: 'flow',
    subAgents: [
      new LlmAgent({ name: 'one', model: scriptedModel(['first']) }),
      new LlmAgent({ name: 'two', model: scriptedModel(['second']) }),
    ],
  })
  const all = redact(
    cached(
      concurrency(rateLimit(retry(timeout(agentTool(workflow), 60_000), { attempts: 2 }), { max: 9, perMs: 1 }), 1),
    ),
    ['none'],
  )
  const { responses } = await runScenario({ tools: [all], steps: [call('flow'), 'ok'] })
  expect(responses).toHaveLength(1)
})
