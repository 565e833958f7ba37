import {
  approve,
  InMemoryArtifactService,
  InMemorySessionService,
  LlmAgent,
  longRunning,
  Runner,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { stores } from '../stores.ts'
import { collect, createDeferred, plainTool, recordingLogger } from './kit.ts'

const key = { userId: 'ada', sessionId: 's1' }

function desk(steps: readonly ScriptedStep[], services: object = {}) {
  const refunds: unknown[] = []
  const refund = tool({
    name: 'refund',
    description: 'Refunds an order',
    parameters: z.object({ order: z.number() }),
    requiresConfirmation: true,
    run: ({ order }, context) => {
      refunds.push(order)
      context.state.set('last', order)
      context.state.set('user:total', refunds.length)
      return { refunded: order }
    },
  })
  const model = scriptedModel(steps)
  const agent = new LlmAgent({ name: 'desk', model, tools: [refund] })
  const runner = new Runner({ appName: 'app', agent, logger: recordingLogger(), ...services })
  const session = (sessionId: string) => runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  return { runner, model, refunds, session }
}

const REFUND: ScriptedStep = { calls: [{ name: 'refund', args: { order: 7 } }] }

describe('runner.fork()', () => {
  test.each(stores)('copies a session up to an invocation, with sessions $name', async ({ open }) => {
    const { runner, session, model } = desk([REFUND, 'Refunded.', 'Bye.', 'Hello again.'], open())
    await runner.sessionService.createSession({ appName: 'app', ...key, state: { theme: 'dark' } })
    const { pending } = await runner.complete({ ...key, message: 'Refund order 7.' })
    await runner.complete({ ...key, message: pending.map((request) => approve(request)) })
    const second = await runner.complete({ ...key, message: 'Bye' })
    await runner.updateState({ ...key, stateDelta: { 'user:total': 40 } })

    const { sessionId } = await runner.fork({ ...key, before: second.invocationId })
    const copy = await session(sessionId)
    const original = await session('s1')
    expect(copy?.events.map(({ id }) => id)).toEqual(
      original?.events
        .filter(({ invocationId }) => invocationId !== second.invocationId)
        .slice(0, -1)
        .map(({ id }) => id),
    )
    expect(copy?.state).toEqual({ theme: 'dark', last: 7, 'user:total': 40 })
    const { text } = await runner.complete({ userId: 'ada', sessionId, message: 'Bye' })
    expect(text).toBe('Hello again.')
    expect(JSON.stringify(model.requests.at(-1)?.contents)).toContain('"refunded":7')
    expect((await session('s1'))?.events).toEqual(original?.events)
  })

  test('an approval of the original does not count in the copy', async () => {
    const { runner, refunds } = desk([REFUND, 'Refunded.', 'Waiting.'])
    const { pending, events } = await runner.complete({ ...key, message: 'Refund order 7.' })
    const { sessionId } = await runner.fork({ ...key, before: events.at(-1)?.id ?? '' })
    expect(await runner.pending({ userId: 'ada', sessionId })).toEqual([])
    const answers = pending.map((request) => approve(request))
    await expect(runner.complete({ userId: 'ada', sessionId, message: answers })).rejects.toThrow(/"?request/i)
    expect(refunds).toEqual([])
    await runner.complete({ ...key, message: answers })
    expect(refunds).toEqual([7])
  })

  test('does not cancel what a long-running call of the original has started', async () => {
    const cancelled: unknown[] = []
    const order = { ...longRunning(plainTool('order', () => ({ ticket: 1 }))), cancel: () => void cancelled.push(1) }
    const agent = new LlmAgent({
      name: 'a',
      model: scriptedModel([{ calls: [{ name: 'order' }] }, 'Ordered.', 'Hi']),
      tools: [order],
    })
    const runner = new Runner({ appName: 'app', agent, logger: recordingLogger() })
    await runner.complete({ ...key, message: 'Order' })
    const { invocationId } = await runner.complete({ ...key, message: 'Hi' })
    const { sessionId } = await runner.fork({ ...key, before: invocationId })
    expect(cancelled).toEqual([])
    expect(await runner.pending({ userId: 'ada', sessionId })).toEqual([])
    expect(await runner.pending(key)).toHaveLength(1)
  })

  test('copies the artifacts that existed then', async () => {
    let now = 1_000_000
    const artifactService = new InMemoryArtifactService({ now: () => now })
    const sessionService = new InMemorySessionService()
    const { runner } = desk(['one', 'two'], { artifactService, sessionService, ports: { now: () => now } })
    const file = { appName: 'app', ...key, filename: 'a.txt' }
    await artifactService.saveArtifact({ ...file, artifact: { text: 'first' } })
    await runner.complete({ ...key, message: 'One' })
    now += 10_000
    const { invocationId } = await runner.complete({ ...key, message: 'Two' })
    await artifactService.saveArtifact({ ...file, artifact: { text: 'second' } })
    const { sessionId } = await runner.fork({ ...key, before: invocationId })
    expect(await artifactService.listVersions({ ...file, sessionId })).toEqual([0])
    expect(await artifactService.loadArtifact({ ...file, sessionId })).toEqual({ text: 'first' })
  })

  test('a copy that fails half way leaves neither a session nor artifacts', async () => {
    let now = 1_000_000
    const artifactService = new InMemoryArtifactService({ now: () => now })
    const sessionService = new InMemorySessionService()
    const services = { artifactService, sessionService, ports: { now: () => now } }
    const { runner, session } = desk(['one', 'two', 'three'], services)
    const save = (filename: string): Promise<number> =>
      artifactService.saveArtifact({ appName: 'app', ...key, filename, artifact: { text: 'x' } })
    await runner.complete({ ...key, message: 'One' })
    for (const filename of ['a.txt', 'b.txt', 'user:c.txt']) await save(filename)
    now += 10_000
    const { invocationId } = await runner.complete({ ...key, message: 'Two' })
    const fork = () => runner.fork({ ...key, before: invocationId, newSessionId: 's2' })
    const namesIn = (sessionId: string) =>
      artifactService.listArtifactKeys({ appName: 'app', userId: 'ada', sessionId })

    const append = vi.spyOn(sessionService, 'append').mockRejectedValueOnce(new Error('The disk is full.'))
    await expect(fork()).rejects.toThrow('The disk is full.')
    expect(append).toHaveBeenCalled()
    expect(await session('s2')).toBeUndefined()
    expect(await namesIn('s2')).toEqual(['user:c.txt'])
    vi.spyOn(artifactService, 'loadArtifact')
      .mockResolvedValueOnce({ text: 'x' })
      .mockRejectedValueOnce(new Error('gone'))
    await expect(fork()).rejects.toThrow('gone')
    expect(await namesIn('s2')).toEqual(['user:c.txt'])
    expect(await namesIn('s1')).toEqual(['a.txt', 'b.txt', 'user:c.txt'])
    await fork()
    expect(await namesIn('s2')).toEqual(['a.txt', 'b.txt', 'user:c.txt'])
  })

  test('a user who is deleted while a session is copied has no artifact afterwards', async () => {
    const artifactService = new InMemoryArtifactService()
    const { runner, session } = desk(['one', 'two'], { artifactService, sessionService: new InMemorySessionService() })
    await artifactService.saveArtifact({ appName: 'app', ...key, filename: 'a.txt', artifact: { text: 'x' } })
    await runner.complete({ ...key, message: 'One' })
    const { invocationId } = await runner.complete({ ...key, message: 'Two' })
    vi.spyOn(artifactService, 'loadArtifact').mockImplementationOnce(async () => {
      await runner.deleteUser({ userId: 'ada' })
      return { text: 'x' }
    })
    const copy = runner.fork({ ...key, before: invocationId, newSessionId: 's2' })
    await expect(copy).rejects.toMatchObject({ code: 'SESSION_GONE' })
    expect(await session('s2')).toBeUndefined()
    expect(await artifactService.listArtifactKeys({ appName: 'app', userId: 'ada', sessionId: 's2' })).toEqual([])
  })

  test('the model in the copy sees images of the original, also after the original is deleted', async () => {
    let now = 1_000_000
    const clock = () => (now += 1_000)
    const artifactService = new InMemoryArtifactService({ now: clock })
    const image = (byte: string) => ({ inlineData: { mimeType: 'image/png', data: byte.repeat(60_000) } })
    const steps: ScriptedStep[] = [{ parts: [image('B')] }, 'two', 'three']
    const { runner, model } = desk(steps, { artifactService, ports: { now: clock } })
    await runner.complete({ ...key, message: [{ text: 'Look' }, image('A')] })
    const { invocationId } = await runner.complete({ ...key, message: 'Two' })
    const { sessionId } = await runner.fork({ ...key, before: invocationId })
    await runner.sessionService.deleteSession({ appName: 'app', ...key })
    for (const filename of await artifactService.listArtifactKeys({ appName: 'app', ...key }))
      await artifactService.deleteArtifact({ appName: 'app', ...key, filename })
    await runner.complete({ userId: 'ada', sessionId, message: 'Three' })
    const parts = model.requests.at(-1)?.contents.flatMap((content) => content.parts) ?? []
    const seen = parts.flatMap(({ inlineData }) => inlineData?.data.slice(0, 1) ?? [])
    expect(seen).toEqual(['A', 'B'])
  })

  test('refuses an unknown event, an unknown session and a session id that exists', async () => {
    const { runner } = desk(['one'])
    const { invocationId } = await runner.complete({ ...key, message: 'One' })
    await expect(runner.fork({ ...key, before: 'gone' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(runner.fork({ userId: 'bob', sessionId: 's1', before: invocationId })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    const again = runner.fork({ ...key, before: invocationId, newSessionId: 's1' })
    await expect(again).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    expect((await runner.sessionService.getSession({ appName: 'app', ...key }))?.events).toHaveLength(2)
  })

  test('refuses a call without the end of the copy, and copies nothing', async () => {
    const { runner } = desk([{ calls: [{ name: 'refund', args: { order: 1 } }] }, 'one'])
    await runner.complete({ ...key, message: 'Refund 1.' })
    await expect(runner.fork(key as never)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    const sessions = await runner.sessionService.listSessions({ appName: 'app', userId: 'ada' })
    expect(sessions).toHaveLength(1)
  })

  test('refuses a session whose run is under way', async () => {
    const begun = createDeferred()
    const held = createDeferred()
    const look = plainTool('look', async () => {
      begun.resolve()
      await held.promise
    })
    const agent = new LlmAgent({
      name: 'a',
      model: scriptedModel([{ calls: [{ name: 'look' }] }, 'done']),
      tools: [look],
    })
    const runner = new Runner({ appName: 'app', agent, logger: recordingLogger() })
    const run = runner.run({ ...key, message: 'Go', runConfig: { detach: true } })
    await begun.promise
    await expect(runner.fork({ ...key, before: run.invocationId })).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    held.resolve()
    await collect(run)
  })
})

describe('runner.updateState()', () => {
  test.each(stores)('changes state between runs, with sessions $name', async ({ open }) => {
    const { runner, session } = desk(['one'], open())
    await runner.complete({ ...key, message: 'One', stateDelta: { a: 1, b: 2 } })
    await runner.updateState({ ...key, stateDelta: { a: null, c: { deep: true } } })
    const { state, events } = (await session('s1')) ?? {}
    expect(state).toEqual({ b: 2, c: { deep: true } })
    expect(events?.at(-1)).toMatchObject({ author: 'user', actions: { stateDelta: { a: null, c: { deep: true } } } })
  })

  test('changes state while a run is under way, and the tool sees it', async () => {
    const begun = createDeferred()
    const held = createDeferred()
    const look = plainTool('look', async (_, context) => {
      begun.resolve()
      await held.promise
      return { theme: context.state.get('theme') }
    })
    const agent = new LlmAgent({
      name: 'a',
      model: scriptedModel([{ calls: [{ name: 'look' }] }, 'done']),
      tools: [look],
    })
    const runner = new Runner({ appName: 'app', agent, logger: recordingLogger() })
    const run = runner.run({ ...key, message: 'Go', runConfig: { detach: true } })
    await begun.promise
    await runner.updateState({ ...key, stateDelta: { theme: 'dark' } })
    held.resolve()
    const events = await collect(run)
    expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({ theme: 'dark' })
  })

  test('refuses another user, and a delta that is not an object', async () => {
    const { runner } = desk(['one'])
    await runner.complete({ ...key, message: 'One' })
    const stranger = runner.updateState({ userId: 'bob', sessionId: 's1', stateDelta: { a: 1 } })
    await expect(stranger).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const list = runner.updateState({ ...key, stateDelta: [] as never })
    await expect(list).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })
})
