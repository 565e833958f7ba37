// A web handler records an answer and returns; another process continues the invocation.
import {
  approve,
  deny,
  LlmAgent,
  type Logger,
  type PendingRequest,
  Runner,
  respond,
  type SessionService,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stores } from '../stores.ts'

const silent = { warn: () => {}, error: () => {} }

function shop(sessionService: SessionService, options: { now?: () => number; logger?: Logger } = {}) {
  const charged: number[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges a customer',
    parameters: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const,
    requiresConfirmation: true,
    run: ({ amount }) => {
      charged.push(amount)
      return { ok: true }
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'charge', args: { amount: 5 } }] }, 'Charged.', 'Hello.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [charge] })
  const ports = options.now && { now: options.now }
  const runner = new Runner({ appName: 'shop', agent, sessionService, logger: options.logger ?? silent, ports })
  onTestFinished(() => runner.close())
  return { runner, charged }
}

async function paused(runner: Runner, sessionId?: string) {
  const result = await runner.complete({ userId: 'ada', sessionId, message: 'I pay 5.' })
  return { sessionId: result.sessionId, request: result.pending[0] as PendingRequest }
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error) => error.code,
  )

describe.each(stores)('with sessions $name', ({ open }) => {
  test('records an approval without running the tool, and a runner of another process continues the invocation', async () => {
    const { sessionService } = open()
    const { runner, charged } = shop(sessionService)
    const { sessionId, request } = await paused(runner)
    await runner.answer({ userId: 'ada', sessionId, message: [approve(request)] })
    expect(charged).toEqual([])
    expect(await runner.pending()).toEqual([])
    expect(await sessionService.interrupted({ appName: 'shop' })).toHaveLength(1)

    const other = shop(sessionService)
    const [run] = await other.runner.recover()
    for await (const _ of run as NonNullable<typeof run>);
    expect([charged, other.charged]).toEqual([[], [5]])
  })

  test('accepts the same answer again, and refuses a different one, also when nothing has run between', async () => {
    const { runner, charged } = shop(open().sessionService)
    const { sessionId, request } = await paused(runner)
    await runner.answer({ userId: 'ada', sessionId, message: [approve(request)] })
    await runner.answer({ userId: 'ada', sessionId, message: [approve(request)] })
    expect(await codeOf(runner.answer({ userId: 'ada', sessionId, message: [deny(request)] }))).toBe('ALREADY_ANSWERED')
    for (const run of await runner.recover()) for await (const _ of run);
    expect(charged).toEqual([5])
    await runner.answer({ userId: 'ada', sessionId, message: [approve(request)] })
    expect(await codeOf(runner.answer({ userId: 'ada', sessionId, message: [deny(request)] }))).toBe('ALREADY_ANSWERED')
    expect(await runner.recover()).toEqual([])
    expect(charged).toEqual([5])
  })

  test('of two different answers at the same moment the first counts, and the other one is refused or logged', async () => {
    const { sessionService } = open()
    const warnings: string[] = []
    const logger = { warn: (text: string) => void warnings.push(text), error: () => {} }
    const [one, other] = [shop(sessionService, { logger }), shop(sessionService, { logger })]
    const { sessionId, request } = await paused(one.runner)
    const answers = await Promise.allSettled([
      one.runner.answer({ userId: 'ada', sessionId, message: [approve(request)] }),
      other.runner.answer({ userId: 'ada', sessionId, message: [deny(request)] }),
    ])
    const stop = new AbortController()
    const working = other.runner.work({ signal: stop.signal, pollMs: 10 })
    const refused = () => answers.filter(({ status }) => status === 'rejected').length + warnings.length
    await expect.poll(refused, { timeout: 10_000 }).toBe(1)
    stop.abort()
    await working
    if (warnings.length) expect(warnings[0]).toMatch(/^An answer posted to session ".+" was refused: /)
  })

  test('refuses with the error of run() what is unknown, forged, from another user, expired, or no answer', async () => {
    let now = 1_700_000_000_000
    const { sessionService } = open({ now: () => now })
    const { runner, charged } = shop(sessionService, { now: () => now })
    const { sessionId, request } = await paused(runner)
    const forged = respond({ ...request, id: 'adk-0' }, { confirmed: true })
    const cases = [
      { userId: 'ada', sessionId, message: [forged] },
      { userId: 'ada', sessionId: 'none', message: [approve(request)] },
      { userId: 'bob', sessionId, message: [approve(request)] },
      { userId: 'ada', sessionId, message: [approve(request), { text: 'and hurry' }] },
      { userId: 'ada', sessionId, message: [approve(request), approve(request)] },
    ]
    for (const options of cases) {
      const codes = [await codeOf(runner.answer(options)), await codeOf(runner.complete(options))]
      expect(codes[0]).toBe(codes[1])
      expect(codes[0]).not.toBe('no error')
    }
    const text = runner.answer({ userId: 'ada', sessionId, message: 'I pay 6.' })
    await expect(text).rejects.toThrow('takes answers to pending requests')
    expect(await runner.pending()).toHaveLength(1)
    now += 25 * 3_600_000
    expect(await codeOf(runner.answer({ userId: 'ada', sessionId, message: [approve(request)] }))).toBe('EXPIRED')
    for (const run of await runner.recover()) for await (const _ of run);
    expect(charged).toEqual([])
  })

  test('posts an answer to the process that holds the session, and checks it against the log first', async () => {
    const { sessionService } = open()
    const first = shop(sessionService)
    const { sessionId, request } = await paused(first.runner)
    const key = { appName: 'shop', userId: 'ada', sessionId }
    const lease = await sessionService.claim(key)
    const { runner } = shop(sessionService)
    const forged = respond({ ...request, id: 'adk-0' }, { confirmed: true })
    expect(await codeOf(runner.answer({ userId: 'ada', sessionId, message: [forged] }))).toBe('NOT_FOUND')
    expect(await sessionService.inbox(lease)).toEqual([])
    await runner.answer({ userId: 'ada', sessionId, message: [approve(request)] })
    expect(await sessionService.inbox(lease)).toHaveLength(1)
    await sessionService.release(lease)
    for await (const _ of runner.resume({ userId: 'ada', sessionId }));
    expect(first.charged).toEqual([])
    expect(await sessionService.inbox(await sessionService.claim(key))).toEqual([])
  })
})
