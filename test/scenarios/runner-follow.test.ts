import { approve, confirm, type Event, InMemorySessionService, LlmAgent, Runner, type SessionService } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { stores } from '../stores.ts'
import { collect, createDeferred, plainTool, recordingLogger } from './kit.ts'

const key = { userId: 'ada', sessionId: 's1' }

/** A runner whose model streams a text, then calls a tool that waits for `release`. */
function slow(sessionService?: SessionService) {
  const begun = createDeferred()
  const held = createDeferred()
  const look = plainTool('look', async () => {
    begun.resolve()
    await held.promise
    return 'seen'
  })
  const model = scriptedModel([{ deltas: ['Let me', ' see'], calls: [{ name: 'look' }] }, 'done'])
  const agent = new LlmAgent({ name: 'agent', model, tools: [look] })
  const runner = new Runner({ appName: 'app', agent, sessionService, logger: recordingLogger() })
  return { runner, begun: begun.promise, release: held.resolve }
}

const labels = (events: readonly Event[]) =>
  events.map(({ partial, content }) => (partial ? 'partial' : (content?.parts[0]?.text ?? content?.role)))

describe('runner.follow()', () => {
  test('sends the stored events after the given one, then those of the run under way', async () => {
    const { runner, begun, release } = slow()
    const run = runner.run({ ...key, message: 'Go', runConfig: { detach: true } })
    await begun
    const [user] = (await runner.sessionService.getSession({ appName: 'app', ...key }))?.events ?? []
    const following = collect(runner.follow({ ...key, afterEventId: user?.id }))
    release()
    expect(labels(await following)).toEqual(['Let me see', 'tool', 'done'])
    expect(labels(await collect(run))).toEqual(['Let me see', 'tool', 'done'])
  })

  test('resumes after a partial event without losing the event it belongs to', async () => {
    const { runner, begun, release } = slow()
    const run = runner.run({ ...key, message: 'Go', runConfig: { detach: true, streaming: true } })
    const seen: Event[] = []
    for await (const event of run) {
      seen.push(event)
      if (event.partial) break
    }
    await begun
    const following = collect(runner.follow({ ...key, afterEventId: seen[0]?.id }))
    release()
    expect(labels(await following).filter((label) => label !== 'partial')).toEqual(['Let me see', 'tool', 'done'])
  })

  test('ends at once in a session whose confirmation was answered', async () => {
    const model = scriptedModel([{ calls: [{ name: 'pay' }] }, 'paid'])
    const agent = new LlmAgent({
      name: 'agent',
      model,
      tools: [
        confirm(
          plainTool('pay', () => 'done'),
          'Pay?',
        ),
      ],
    })
    const runner = new Runner({ appName: 'app', agent })
    const { pending } = await runner.complete({ ...key, message: 'Go' })
    await runner.complete({ ...key, message: pending.map((request) => approve(request)) })
    expect(await collect(runner.follow(key))).toEqual([])
  })

  test('ends at once with the stored events when no run is under way', async () => {
    const { runner, release } = slow()
    release()
    const { events } = await runner.complete({ ...key, message: 'Go' })
    const [first, second, last] = events.filter(({ partial }) => !partial)
    expect(await collect(runner.follow({ ...key, afterEventId: first?.id }))).toEqual([second, last])
    expect(await collect(runner.follow(key))).toEqual([])
  })

  test('ends at once in a session whose root agent was renamed, and the session takes new messages', async () => {
    const { runner, release } = slow()
    release()
    await runner.complete({ ...key, message: 'Go' })
    const { sessionService } = runner
    const renamed = new LlmAgent({ name: 'renamed', model: scriptedModel(['Hello']) })
    const other = new Runner({ appName: 'app', agent: renamed, sessionService })
    expect(await collect(other.follow(key))).toEqual([])
    expect((await other.complete({ ...key, message: 'Still there?' })).text).toBe('Hello')
  })

  test('leaving the loop does not cancel the run', async () => {
    const { runner, begun, release } = slow()
    const run = runner.run({ ...key, message: 'Go', runConfig: { detach: true } })
    await begun
    const [user] = (await runner.sessionService.getSession({ appName: 'app', ...key }))?.events ?? []
    for await (const _ of runner.follow({ ...key, afterEventId: user?.id })) break
    release()
    expect(labels(await collect(run))).toEqual(['Let me see', 'tool', 'done'])
  })

  test.each([
    ['unknown', () => 'gone'],
    ['of another session', (foreign: Event) => foreign.id],
    ['of a partial event of another session', (foreign: Event) => `${foreign.id}.0`],
    ['of a partial event after the end of the log', (_: Event, own: Event) => `${own.id}.99`],
  ])('refuses an id that is %s', async (_, pick) => {
    const { runner, release } = slow()
    release()
    const own = await runner.complete({ ...key, message: 'Go' })
    const other = slow(runner.sessionService)
    other.release()
    const foreign = await other.runner.complete({ ...key, sessionId: 's2', message: 'Go' })
    const afterEventId = pick(foreign.events[0] as Event, own.events[0] as Event)
    await expect(collect(runner.follow({ ...key, afterEventId }))).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })

  test('fails for a session that does not exist', async () => {
    await expect(collect(slow().runner.follow(key))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test.each(stores)('follows a run of another process through the store, with sessions $name', async ({ open }) => {
    const { sessionService } = open()
    const { runner, begun, release } = slow(sessionService)
    const other = slow(sessionService).runner
    const run = runner.run({ ...key, message: 'Go', runConfig: { detach: true } })
    await begun
    const [user] = (await sessionService.getSession({ appName: 'app', ...key }))?.events ?? []
    const seen: Event[] = []
    for await (const event of other.follow({ ...key, afterEventId: user?.id })) {
      seen.push(event)
      release()
    }
    expect(labels(seen)).toEqual(['Let me see', 'tool', 'done'])
    await collect(run)
  })

  test.each(stores)('ends when the session is deleted, with sessions $name', async ({ open }) => {
    const { sessionService } = open()
    const { runner, begun, release } = slow(sessionService)
    const ended = collect(runner.run({ ...key, message: 'Go', runConfig: { detach: true } })).catch(() => {})
    await begun
    const [user] = (await sessionService.getSession({ appName: 'app', ...key }))?.events ?? []
    const seen: Event[] = []
    for await (const event of slow(sessionService).runner.follow({ ...key, afterEventId: user?.id })) {
      seen.push(event)
      await sessionService.deleteSession({ appName: 'app', ...key })
    }
    expect(labels(seen)).toEqual(['Let me see'])
    release()
    await ended
  })

  test('sends the request of a run in another process that pauses while it is looked up', async () => {
    const sessionService = new InMemorySessionService()
    const begun = createDeferred()
    const held = createDeferred()
    const look = plainTool('look', async () => {
      begun.resolve()
      await held.promise
      return 'seen'
    })
    const model = scriptedModel([{ calls: [{ name: 'look' }] }, { calls: [{ name: 'pay' }] }])
    const agent = new LlmAgent({ name: 'agent', model, tools: [look, confirm(plainTool('pay', () => 'paid'))] })
    const options = { appName: 'app', agent, sessionService, logger: recordingLogger() }
    const ended = collect(new Runner(options).run({ ...key, message: 'Go', runConfig: { detach: true } }))
    await begun.promise
    const [user] = (await sessionService.getSession({ appName: 'app', ...key }))?.events ?? []
    const { pending } = sessionService
    vi.spyOn(sessionService, 'pending').mockImplementationOnce(async (filter) => {
      held.resolve()
      await ended // the run is paused now
      return await pending.call(sessionService, filter)
    })
    const events = await collect(new Runner(options).follow({ ...key, afterEventId: user?.id }))
    expect(events.map(({ id }) => id)).toEqual((await ended).map(({ id }) => id))
    expect(JSON.stringify(events)).toContain('adk_request_confirmation')
  })

  test('reads only new entries of a run in another process, and less often while there are none', async () => {
    const sessionService = new InMemorySessionService()
    const { runner, begun, release } = slow(sessionService)
    const ended = collect(runner.run({ ...key, message: 'Go', runConfig: { detach: true } }))
    await begun
    const readLog = vi.spyOn(sessionService, 'readLog')
    const waits: number[] = []
    const setTimer = (callback: () => void, ms: number): (() => void) => {
      waits.push(ms)
      if (waits.length === 6) release()
      void (waits.length < 6 ? Promise.resolve() : ended).then(callback)
      return () => {}
    }
    const agent = new LlmAgent({ name: 'agent', model: scriptedModel([]) })
    const other = new Runner({ appName: 'app', agent, sessionService, logger: recordingLogger(), ports: { setTimer } })
    const followed = await collect(other.follow(key))
    expect(labels(followed)).toEqual(['tool', 'done'])
    expect(waits).toEqual([500, 1000, 2000, 2000, 2000, 2000])
    const [first, ...more] = readLog.mock.calls.map(([{ fromSeq }]) => fromSeq ?? 1)
    expect(first).toBe(1)
    expect(Math.min(...more)).toBeGreaterThan(1)
  })
})
