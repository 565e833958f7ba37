import { approve, confirm, InMemorySessionService, LlmAgent, Runner, type Tool } from 'toolwright'
import { connectLive, type LiveConnection, type LiveModel } from 'toolwright/live'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { plainTool, responsesOf, silentLogger } from './kit.ts'
import { attack, expectValidHistory, expectWholeLog, ticks, watchRejections } from './live-attacks-kit.ts'
import { storedEvents } from './live-calls-kit.ts'
import { collect } from './live-kit.ts'

const fail = (): never => {
  throw new Error('The model failed.')
}

describe('a live model that breaks its interface ends neither the process nor the wait for close()', () => {
  const forever = new Promise<never>(() => {})
  async function* messages(...list: unknown[]): AsyncGenerator<unknown> {
    yield* list
    await forever
  }
  const usual = { send: () => undefined, close: () => {}, [Symbol.asyncIterator]: () => messages() }
  const throwing = {
    get type() {
      return fail()
    },
  }
  const wrong = [null, 7, {}, throwing, { type: 'toolCall' }, { type: 'toolCall', calls: [null] }, { type: 'text' }]
  const models: [string, () => unknown][] = [
    ['connect() throws', fail],
    ['connect() returns nothing', () => undefined],
    ['the connection has no messages', () => ({ send: fail, close: fail })],
    ['close() throws', () => ({ ...usual, close: fail })],
    ['close() rejects', () => ({ ...usual, close: async () => fail() })],
    ['send() throws', () => ({ ...usual, send: fail })],
    ['send() rejects', () => ({ ...usual, send: async () => fail() })],
    ['send() never settles', () => ({ ...usual, send: () => forever })],
    ['the iterator throws', () => ({ ...usual, [Symbol.asyncIterator]: fail })],
    [
      'the iterator returns no result',
      () => ({ ...usual, [Symbol.asyncIterator]: () => ({ next: async () => null }) }),
    ],
    [
      'the messages end, and close() throws',
      () => ({ ...usual, [Symbol.asyncIterator]: async function* () {}, close: fail }),
    ],
    [
      'an error cannot be read',
      () => ({
        ...usual,
        [Symbol.asyncIterator]: () => ({
          next: () =>
            Promise.reject({
              get message() {
                return fail()
              },
            }),
        }),
      }),
    ],
    [
      'messages without end are malformed',
      () => ({ ...usual, [Symbol.asyncIterator]: () => ({ next: async () => ({ value: null, done: false }) }) }),
    ],
  ]

  test.each(models)('%s', async (_title, connect) => {
    const rejections = watchRejections()
    const model = { name: 'hostile', connect: async () => connect() as LiveConnection } satisfies LiveModel
    const reconnect = { attempts: 2, delayMs: 1, maxDelayMs: 1 }
    const session = await connectLive({ model, tools: [], reconnect }).catch(() => undefined)
    if (session) {
      collect(session)
      const sending = [session.send('Hello.'), session.send({ audio: new Uint8Array(2) })]
      for (const one of sending) one.catch(() => {})
      await ticks()
      await session.close()
    }
    await ticks()
    expect(rejections).toEqual([])
  })

  test('malformed messages are skipped, and the others are used', async () => {
    const call = { type: 'toolCall', calls: [{ id: 'c1', name: 'look', args: {} }] }
    const connection = { ...usual, [Symbol.asyncIterator]: () => messages(...wrong, call) } as LiveConnection
    const model: LiveModel = { name: 'hostile', connect: async () => connection }
    const session = await connectLive({ model, tools: [plainTool('look', () => ({}))] })
    onTestFinished(() => session.close())
    const { event, events } = collect(session)
    await event('toolResponse')
    expect(events.map(({ type }) => type)).toEqual(['toolCall', 'toolResponse'])
  })
})

describe('a process that dies in a live session', () => {
  test('leaves calls that a second process finishes: no body runs twice, and a request can be answered', async () => {
    let now = Date.now()
    const sessionService = new InMemorySessionService({ now: () => now, leaseMs: 5_000 })
    const runs: string[] = []
    const body = (name: string, result: unknown): Tool =>
      plainTool(
        name,
        () => {
          runs.push(name)
          return result
        },
        { effect: 'atMostOnce' },
      )
    const tools = [body('charge', new Promise(() => {})), confirm(body('pay', { paid: true }))]
    const died = await attack(tools, { confirmationProvider: () => new Promise(() => {}) }, { sessionService })
    const calls = ['charge', 'pay'].map((name) => ({ id: name, name, args: {} }))
    died.connection.emit({ type: 'toolCall', calls })
    const { request } = await died.event('request')
    await ticks()
    const { userId, sessionId } = died.session
    now += 60_000
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel(['One.', 'Two.']), tools })
    const runner = new Runner({ appName: 'app', agent, logger: silentLogger, sessionService })
    onTestFinished(() => runner.close())
    for (const run of await runner.recover()) for await (const _ of run);
    expect((await runner.pending({ userId, sessionId })).map(({ id }) => id)).toEqual([request.id])
    for await (const _ of runner.run({ userId, sessionId, message: [approve(request)] }));
    expect(runs).toEqual(['charge', 'pay'])
    const responses = responsesOf(await storedEvents(runner, died.session))
    expect(responses.find(({ id }) => id === 'charge')?.response).toMatchObject({ status: 'unknown_outcome' })
    await expectWholeLog(runner, died.session)
    await expectValidHistory(died.session, sessionService, tools)
  })
})

test('thousands of calls and turns leave no call open, and each has one response', async () => {
  let runs = 0
  const { connection, session, runner } = await attack([plainTool('look', () => ({ run: ++runs }))])
  for (let round = 0; round < 1_000; round++) {
    connection.emit({ type: 'toolCall', calls: [{ id: `c${round}`, name: 'look', args: { round } }] })
    connection.emit({ type: 'toolCancelled', ids: [`unknown${round}`] }, { type: 'text', text: 'x' })
    connection.emit({ type: 'turnComplete' })
    if (round % 100 === 0) await ticks(1)
  }
  while (runs < 1_000 || session.openCalls > 0) await ticks()
  expect([runs, session.openCalls]).toEqual([1_000, 0])
  await session.close()
  await expectWholeLog(runner, session)
})
