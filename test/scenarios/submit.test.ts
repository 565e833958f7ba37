// A web handler stores a message and returns; a worker runs it.
import { approve, LlmAgent, type Plugin, Runner, type SessionService, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stores } from '../stores.ts'

const silent = { warn: () => {}, error: () => {} }
const ADA = { userId: 'ada', sessionId: 's1' }

/** A desk that echoes, and charges after an approval when the user asks for it. */
function desk(sessionService: SessionService, plugins: readonly Plugin[] = []) {
  const charged: string[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges a customer',
    requiresConfirmation: true,
    run: () => {
      charged.push('5')
      return { ok: true }
    },
  })
  const model = scriptedModel(({ contents }) => {
    const last = contents.at(-1)?.parts[0]
    if (last?.functionResponse) return 'Charged.'
    return last?.text?.startsWith('Pay') ? { calls: [{ name: 'charge', args: {} }] } : `You said ${last?.text}`
  })
  const agent = new LlmAgent({ name: 'desk', model, tools: [charge] })
  const runner = new Runner({ appName: 'shop', agent, sessionService, plugins, logger: silent })
  onTestFinished(() => runner.close())
  return { runner, charged }
}

function startWorker(runner: Runner): void {
  const stop = new AbortController()
  const ended = runner.work({ signal: stop.signal, pollMs: 20 })
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
}

async function textsIn(sessionService: SessionService, key = ADA): Promise<string[]> {
  const session = await sessionService.getSession({ appName: 'shop', ...key })
  return (session?.events ?? []).flatMap(({ content }) => content?.parts.flatMap(({ text }) => text ?? []) ?? [])
}

describe.each(stores)('with sessions $name', ({ open }) => {
  test('a submitted message runs in a worker, once, with its state, and creates its session', async () => {
    const { sessionService } = open()
    const front = desk(sessionService)
    const options = { ...ADA, message: 'hello', stateDelta: { topic: 'greeting' }, id: 'm1' }
    expect(await front.runner.submit(options)).toEqual({ sessionId: 's1' })
    await front.runner.submit(options) // the reply was lost
    expect(await textsIn(sessionService)).toEqual([])
    startWorker(desk(sessionService).runner)
    await expect.poll(() => textsIn(sessionService)).toEqual(['hello', 'You said hello'])
    await front.runner.submit(options)
    const { sessionId } = await front.runner.submit({ userId: 'ada', message: 'again' })
    await expect.poll(() => textsIn(sessionService, { userId: 'ada', sessionId })).toHaveLength(2)
    expect(await textsIn(sessionService)).toEqual(['hello', 'You said hello'])
    const session = await sessionService.getSession({ appName: 'shop', ...ADA })
    expect(session?.state).toMatchObject({ topic: 'greeting' })
  })

  test('messages of a session run in their order, one after another', async () => {
    const { sessionService } = open()
    const { runner } = desk(sessionService)
    for (const message of ['one', 'two', 'three']) await runner.submit({ ...ADA, message })
    startWorker(runner)
    const said = ['one', 'two', 'three'].flatMap((text) => [text, `You said ${text}`])
    await expect.poll(() => textsIn(sessionService)).toEqual(said)
  })

  test('a message waits while the session waits for an approval, and runs after it', async () => {
    const { sessionService } = open()
    const { runner, charged } = desk(sessionService)
    startWorker(runner)
    await runner.submit({ ...ADA, message: 'Pay.' })
    await expect.poll(() => runner.pending(ADA)).toHaveLength(1)
    await runner.submit({ ...ADA, message: 'hello' })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await textsIn(sessionService)).toEqual(['Pay.'])
    await runner.answer({ ...ADA, message: (await runner.pending(ADA)).map((request) => approve(request)) })
    await expect
      .poll(() => textsIn(sessionService), { timeout: 10_000 })
      .toEqual(['Pay.', 'Charged.', 'hello', 'You said hello'])
    expect(charged).toEqual(['5'])
  })

  test('a message waits while a run is under way, and the run does not take it for an answer', async () => {
    const { sessionService } = open()
    const gate = Promise.withResolvers<void>()
    const waits: Plugin = { name: 'waits', beforeModel: () => gate.promise }
    const holder = desk(sessionService, [waits]).runner
    const running = holder.complete({ ...ADA, message: 'first' })
    const { runner } = desk(sessionService)
    startWorker(runner)
    await expect.poll(() => textsIn(sessionService)).toEqual(['first'])
    await runner.submit({ ...ADA, message: 'second' })
    gate.resolve()
    await running
    await expect
      .poll(() => textsIn(sessionService), { timeout: 10_000 })
      .toEqual(['first', 'You said first', 'second', 'You said second'])
  })

  test('the plugins of the worker see the message before it is recorded', async () => {
    const { sessionService } = open()
    const seen: unknown[] = []
    const guard: Plugin = {
      name: 'guard',
      beforeRun: ({ message }) => {
        seen.push(message?.parts[0]?.text)
      },
    }
    startWorker(desk(sessionService, [guard]).runner)
    await desk(sessionService).runner.submit({ ...ADA, message: 'hello' })
    await expect.poll(() => textsIn(sessionService)).toEqual(['hello', 'You said hello'])
    expect(seen[0]).toBe('hello')
  })

  test('the messages of another user with the same session id stay apart, and end with their session', async () => {
    const { sessionService } = open()
    const { runner } = desk(sessionService)
    const bob = { userId: 'bob', sessionId: 's1' }
    await runner.submit({ ...ADA, message: 'of Ada', id: 'm1' })
    await runner.submit({ ...bob, message: 'of Bob', id: 'm1' })
    await runner.deleteSession(bob)
    startWorker(runner)
    await expect.poll(() => textsIn(sessionService)).toEqual(['of Ada', 'You said of Ada'])
    expect(await textsIn(sessionService, bob)).toEqual([])
  })
})

test('answers, empty messages and an id without a session are refused', async () => {
  const { runner } = desk(stores[0]?.open().sessionService as SessionService)
  await runner.complete({ ...ADA, message: 'Pay.' })
  const message = (await runner.pending(ADA)).map((request) => approve(request))
  await expect(runner.submit({ ...ADA, message })).rejects.toThrow(
    'Record answers to pending requests with runner.answer()',
  )
  await expect(runner.submit({ ...ADA, message: ' ' })).rejects.toThrow('The message is empty')
  await expect(runner.submit({ userId: 'ada', message: 'hi', id: 'm1' })).rejects.toThrow('`id` needs `sessionId`')
})
