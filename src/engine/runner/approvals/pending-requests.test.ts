import { afterEach, describe, expect, test, vi } from 'vitest'
import type { FunctionResponse } from '../../../core/content/content.ts'
import { createEvent } from '../../../core/event/event.ts'
import { Fold } from '../../../core/event/fold.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import type { PendingChanges } from '../../../services/session/service.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { LoopAgent } from '../../agent/agents/workflow.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import type { Model } from '../../model/model.ts'
import type { Tool } from '../../tool/tool.ts'
import { Runner } from '../runner.ts'
import { approve } from './answer-parts.ts'

const where = { userId: 'ada', sessionId: 's1' }

/** Calls a long-running tool for the message `work`, and replies with text to any other message. */
const model: Model = {
  name: 'obedient',
  async *generate({ contents }) {
    const said = contents.at(-1)?.parts.at(-1)?.text
    const part = said === 'work' ? { functionCall: { name: 'work', args: {} } } : { text: 'fine' }
    yield { content: { role: 'model', parts: [part] } }
  },
}

const work: Tool = {
  name: 'work',
  description: 'Work',
  declaration: () => ({ name: 'work', description: 'Work' }),
  isLongRunning: true,
  run: () => ({ status: 'started' }),
}

/** An in-memory session service that collects the changes of pending requests passed to append(). */
function listing(): { sessionService: InMemorySessionService; lists: PendingChanges[] } {
  const sessionService = new InMemorySessionService()
  const lists: PendingChanges[] = []
  const append = sessionService.append.bind(sessionService)
  sessionService.append = (lease, seq, entries, options) => {
    if (options?.pending) lists.push(options.pending)
    return append(lease, seq, entries, options)
  }
  return { sessionService, lists }
}

const runnerOf = (sessionService: InMemorySessionService): Runner =>
  new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [work] }), sessionService })

afterEach(() => void vi.restoreAllMocks())

describe('long-running calls without a result', () => {
  /** The cost of one more message after `open` long-running calls without a result. */
  async function costOf(open: number): Promise<{ steps: number; lists: number; calls: number }> {
    const { sessionService, lists } = listing()
    const runner = runnerOf(sessionService)
    for (let n = 0; n < open; n++) await runner.complete({ ...where, message: 'work' })
    await runner.complete({ ...where, message: 'Hi' })
    const before = lists.length
    const steps = vi.spyOn(SessionView.prototype, 'stepOf')
    const calls = vi.spyOn(Fold.prototype, 'isOpen')
    expect((await runner.complete({ ...where, message: 'Hi' })).text).toBe('fine')
    const cost = { steps: steps.mock.calls.length, lists: lists.length - before, calls: calls.mock.calls.length }
    vi.restoreAllMocks()
    return cost
  }

  test('do not slow down a later message, which stores no list of pending requests', async () => {
    const few = await costOf(8) // the view of a shorter log is not kept
    expect(await costOf(200)).toEqual(few)
    expect(few.lists).toBe(0)
  })

  test('are listed one by one: another long-running call stores only itself', async () => {
    const { sessionService, lists } = listing()
    const runner = runnerOf(sessionService)
    for (let n = 1; n <= 20; n++) {
      await runner.complete({ ...where, message: 'work' })
      expect(lists).toHaveLength(n)
      expect(lists.at(-1)).toMatchObject({ opened: [{ kind: 'longRunning' }], closed: [] })
      expect(await runner.pending()).toHaveLength(n)
    }
  })

  test('can be answered later, also in another process', async () => {
    const { sessionService } = listing()
    const [one, other] = [runnerOf(sessionService), runnerOf(sessionService)]
    for (const runner of [one, other, one, other]) await runner.complete({ ...where, message: 'work' })
    const pending = await one.pending()
    expect(pending).toHaveLength(4)
    for (const [at, { id, tool: name }] of pending.entries()) {
      const functionResponse: FunctionResponse = { id, name, response: { done: at } }
      await (at % 2 ? one : other).complete({ ...where, message: [{ functionResponse }] })
      expect(await one.pending()).toHaveLength(3 - at)
    }
  })
})

test('a LoopAgent checks only its latest round before each model call', async () => {
  const agent = (rounds: number): LoopAgent =>
    new LoopAgent({ name: 'loop', maxIterations: rounds, subAgents: [new LlmAgent({ name: 'child', model })] })
  const costOf = async (rounds: number): Promise<number> => {
    const runner = new Runner({ appName: 'app', agent: agent(rounds) })
    const looks = vi.spyOn(Fold.prototype, 'hasStarted')
    const { events } = await runner.complete({ ...where, message: 'go' })
    expect(events).toHaveLength(rounds)
    const count = looks.mock.calls.length
    vi.restoreAllMocks()
    return count
  }
  expect(await costOf(400)).toBeLessThan(6 * (await costOf(100)))
})

test('a request that a resumed run makes is no longer pending once it is answered', async () => {
  const { sessionService } = listing()
  const key = { appName: 'app', ...where }
  await sessionService.createSession(key)
  const lease = await sessionService.claim(key)
  const [user, call] = [
    createEvent({ id: 'e1', invocationId: 'i1', author: 'user', content: { role: 'user', parts: [{ text: 'Hi' }] } }),
    createEvent({
      id: 'e2',
      invocationId: 'i1',
      author: 'agent',
      turnComplete: true,
      nodeInfo: { path: 'agent' },
      content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'work', args: {} } }] },
    }),
  ]
  await sessionService.append(lease, 0, [{ event: user }, { event: call }])
  await sessionService.release(lease, { interrupted: true })
  const gated: Tool = { ...work, isLongRunning: false, requiresConfirmation: true }
  const agent = new LlmAgent({ name: 'agent', model, tools: [gated] })
  const runner = new Runner({ appName: 'app', agent, sessionService })
  for await (const _ of runner.resume(where));
  const [request] = await runner.pending()
  if (!request) throw new Error('There is no request.')
  await runner.complete({ ...where, message: [approve(request)] })
  expect(await runner.pending()).toEqual([])
})
