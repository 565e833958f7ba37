// The options of a ToolDispatcher hold wherever its tools are called.
import {
  agentTool,
  cached,
  confirm,
  LlmAgent,
  Runner,
  StaticToolset,
  ToolDispatcher,
  type ToolDispatcherOptions,
  timeout,
} from 'toolwright'
import { connectLive } from 'toolwright/live'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDeferred, plainTool, silentLogger } from './kit.ts'

const hang = { ...plainTool('hang', () => new Promise(() => {})), effect: 'none' as const }
const pay = confirm(plainTool('pay', () => ({ paid: true })))
const call = (name: string, args = {}) => ({ calls: [{ name, args }] })

/** The responses that an agent with this dispatcher gets in a text run. */
async function inText(dispatcher: ToolDispatcher, names: readonly string[]) {
  const model = scriptedModel([{ calls: names.map((name) => ({ name, args: {} })) }, 'Done.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [dispatcher] })
  const runner = new Runner({ appName: 'app', agent, logger: silentLogger })
  const { events, pending } = await runner.complete({ userId: 'ada', message: 'Go.' })
  const responses = events
    .filter(({ author }) => author === 'desk')
    .flatMap(({ content }) => content?.parts.flatMap(({ functionResponse: one }) => one?.response ?? []) ?? [])
  return { responses, pending, runner }
}

/** The first response that a live model gets. */
async function inLive(dispatcher: ToolDispatcher, name: string, options = {}) {
  const session = await connectLive({ tools: [dispatcher], model: scriptedLive([call(name), 'Done.']), ...options })
  onTestFinished(() => session.close())
  await session.send('Go.')
  for await (const event of session) if (event.type === 'toolResponse') return event.responses[0]?.response
  throw new Error('There is no response.')
}

describe('timeoutMs of a dispatcher', () => {
  const make = () => new ToolDispatcher({ timeoutMs: 20 }).register(hang)

  test('ends a call of an agent, also of a tool in a toolset', async () => {
    const { responses } = await inText(make(), ['hang'])
    expect(responses).toMatchObject([{ errorCode: 'TIMEOUT', error: expect.stringContaining('20 ms') }])
    const nested = new ToolDispatcher({ timeoutMs: 20 }).register(new StaticToolset([hang]))
    expect((await inText(nested, ['hang'])).responses).toMatchObject([{ errorCode: 'TIMEOUT' }])
  })

  test('ends a call of a live session', async () => {
    expect(await inLive(make(), 'hang')).toMatchObject({ errorCode: 'TIMEOUT' })
  })

  test('does not shorten the deadline that a tool has', async () => {
    const slow = timeout(
      plainTool('slow', () => new Promise((done) => setTimeout(done, 60, { done: true }))),
      5_000,
    )
    const dispatcher = new ToolDispatcher({ timeoutMs: 20 }).register(slow)
    expect((await inText(dispatcher, ['slow'])).responses).toEqual([{ done: true }])
  })
})

describe('confirmationProvider of a dispatcher', () => {
  const make = (options: ToolDispatcherOptions) => new ToolDispatcher(options).register(pay)
  const approving = () => make({ confirmationProvider: () => ({ confirmed: true }) })
  const denying = () => make({ confirmationProvider: () => ({ confirmed: false, hint: 'Not before Friday.' }) })

  test('is asked in a text run, which does not pause', async () => {
    const { responses, pending } = await inText(approving(), ['pay'])
    expect(pending).toEqual([])
    expect(responses).toContainEqual({ paid: true })
  })

  test('denies in a text run', async () => {
    const { responses, pending } = await inText(denying(), ['pay'])
    expect(pending).toEqual([])
    expect(responses).toContainEqual(expect.objectContaining({ errorCode: 'CANCELLED' }))
    expect(JSON.stringify(responses)).toContain('Not before Friday.')
    expect(responses).not.toContainEqual({ paid: true })
  })

  test('that fails, or edits arguments that must not be edited, denies', async () => {
    const offline = () => {
      throw new Error('offline')
    }
    for (const confirmationProvider of [offline, () => ({ confirmed: true, args: { amount: 9 } })]) {
      const { responses, pending } = await inText(make({ confirmationProvider }), ['pay'])
      expect(pending).toEqual([])
      expect(responses).not.toContainEqual({ paid: true })
    }
  })

  test('is asked once about each call of a reply, and a call that is approved first runs first', async () => {
    const second = createDeferred()
    const asked: string[] = []
    const other = confirm(plainTool('other', () => ({ other: true })))
    const dispatcher = new ToolDispatcher({
      confirmationProvider: async ({ tool }) => {
        asked.push(tool)
        if (tool === 'other') await second.promise
        return { confirmed: true }
      },
    }).register(
      confirm(
        plainTool('pay', () => {
          second.resolve()
          return { paid: true }
        }),
      ),
      other,
    )
    const { responses, pending } = await inText(dispatcher, ['pay', 'other'])
    expect(pending).toEqual([])
    expect(responses).toEqual(expect.arrayContaining([{ paid: true }, { other: true }]))
    expect(asked).toEqual(['pay', 'other'])
  })

  test('stops to wait when the run is cancelled', async () => {
    const asked = createDeferred()
    let wasAborted = false
    const dispatcher = make({
      confirmationProvider: (_, { signal }) => {
        signal.addEventListener('abort', () => (wasAborted = true))
        asked.resolve()
        return new Promise(() => {})
      },
    })
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel([call('pay')]), tools: [dispatcher] })
    const runner = new Runner({ appName: 'app', agent, logger: silentLogger })
    const running = runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go.' })
    await asked.promise
    await runner.cancel({ userId: 'ada', sessionId: 's1' })
    expect(await running).toMatchObject({ error: { code: 'CANCELLED' } })
    expect(wasAborted).toBe(true)
  })

  test('is asked in a live session, before that of the session', async () => {
    expect(await inLive(approving(), 'pay')).toEqual({ paid: true })
    const options = { confirmationProvider: () => ({ confirmed: true }) }
    expect(await inLive(denying(), 'pay', options)).toMatchObject({ errorCode: 'CANCELLED' })
  })

  test('is not needed with allowUnconfirmed', async () => {
    const dispatcher = make({ allowUnconfirmed: true })
    expect((await inText(dispatcher, ['pay'])).responses).toContainEqual({ paid: true })
    expect(await inLive(dispatcher, 'pay')).toEqual({ paid: true })
  })

  test('without one, a text run pauses and a live session refuses', async () => {
    const { pending, responses } = await inText(make({}), ['pay'])
    expect(pending).toMatchObject([{ kind: 'confirmation', tool: 'pay' }])
    expect(responses).not.toContainEqual({ paid: true })
    expect(await inLive(make({}), 'pay')).toMatchObject({ errorCode: 'CANCELLED' })
  })
})

test('model of a dispatcher is the model of its agent tools in an agent', async () => {
  const model = scriptedModel(['Four.'])
  const ask = agentTool(new LlmAgent({ name: 'ask', description: 'Answers' }))
  const dispatcher = new ToolDispatcher({ model }).register(ask)
  const own = scriptedModel([call('ask', { request: '2 + 2?' }), 'It is four.'])
  const agent = new LlmAgent({ name: 'desk', model: own, tools: [dispatcher] })
  const runner = new Runner({ appName: 'app', agent })
  expect(await runner.complete({ userId: 'ada', message: 'Go.' })).toMatchObject({ text: 'It is four.' })
  expect(model.requests).toHaveLength(1)
})

describe('cached() in a dispatcher', () => {
  const make = (options = {}) => {
    const fetched: string[] = []
    const rate = plainTool('rate', () => {
      fetched.push('')
      return { rate: fetched.length }
    })
    const shared = cached(rate, options)
    return { fetched, shared, dispatcher: new ToolDispatcher().register(shared) }
  }

  test('answers later and concurrent calls of a user from memory', async () => {
    const { fetched, dispatcher } = make()
    expect(await dispatcher.call('rate')).toEqual({ rate: 1 })
    expect(await dispatcher.call('rate', {}, { timeoutMs: 5_000 })).toEqual({ rate: 1 })
    await Promise.all([1, 2, 3].map(() => dispatcher.call('rate')))
    expect(fetched).toHaveLength(1)
  })

  test('shares nothing with another user, another dispatcher or a session', async () => {
    const { fetched, shared, dispatcher } = make()
    await dispatcher.call('rate')
    await dispatcher.call('rate', {}, { userId: 'bob' })
    await new ToolDispatcher().register(shared).call('rate')
    await inText(dispatcher, ['rate'])
    expect(fetched).toHaveLength(4)
  })

  test('with the scope of an invocation runs each call', async () => {
    const { fetched, dispatcher } = make({ scope: 'invocation' })
    await dispatcher.call('rate')
    await dispatcher.call('rate')
    expect(fetched).toHaveLength(2)
  })
})
