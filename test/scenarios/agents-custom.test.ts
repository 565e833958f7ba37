import {
  type Agent,
  type Event,
  type InvocationContext,
  LlmAgent,
  LoopAgent,
  Runner,
  SequentialAgent,
  tool,
} from 'toolwright'
import { type Step, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { notebook } from './kit.ts'

// An agent's own events need only say something: the framework fills in the rest.
const say = (text: string, more: object = {}) =>
  ({ content: { role: 'model', parts: [{ text }] }, actions: {}, ...more }) as unknown as Event
const custom = (
  name: string,
  run: (context: InvocationContext) => AsyncIterable<Event>,
  subAgents: Agent[] = [],
): Agent => ({
  name,
  subAgents,
  run,
})
const speaker = (name: string, ...steps: Step[]) => new LlmAgent({ name, model: scriptedModel(steps) })
const runnerOf = (agent: Agent) => new Runner({ appName: 'app', agent, logger: notebook() })
const send = async (agent: Agent) => {
  const runner = runnerOf(agent)
  const done = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
  return { ...done, session }
}
const paths = (events: readonly Event[]) => events.map(({ nodeInfo }) => nodeInfo?.path)

test('what it yields is recorded as its own, whatever it claims', async () => {
  const agent = custom('clock', async function* () {
    yield say('tick', {
      id: 'mine',
      invocationId: 'other',
      nodeInfo: { path: 'elsewhere' },
      timestamp: 1,
      author: 'user',
    })
    yield say('tock')
  })
  const { events, text, session, invocationId } = await send(agent)
  expect(text).toBe('tock')
  expect(events).toMatchObject([
    { author: 'clock', nodeInfo: { path: 'clock' }, invocationId },
    { author: 'clock', nodeInfo: { path: 'clock' }, invocationId },
    { author: 'clock', nodeInfo: { path: 'clock' }, actions: { endOfAgent: true } },
  ])
  expect(events[0]?.id).not.toBe('mine')
  expect(session?.events.slice(1)).toEqual(events)
})

test('partial events of its own are shown and not stored', async () => {
  const agent = custom('clock', async function* () {
    yield say('ti', { partial: true })
    yield say('tick')
  })
  const runner = runnerOf(agent)
  const seen: unknown[] = []
  const run = runner.run({ userId: 'ada', message: 'Go' })
  for await (const { partial, content } of run) seen.push([partial, content?.parts[0]?.text])
  expect(seen.slice(0, 2)).toEqual([
    [true, 'ti'],
    [undefined, 'tick'],
  ])
  const { sessionId } = run
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  expect(session?.events.some(({ partial }) => partial)).toBe(false)
})

test('state it writes goes with its next event, or with its end', async () => {
  const agent = custom('clerk', async function* ({ state }) {
    state.set('first', 1)
    yield say('one')
    state.set('second', state.get<number>('first', 0) + 1)
  })
  const { events, session } = await send(agent)
  expect(events.map(({ actions }) => actions.stateDelta)).toEqual([{ first: 1 }, { second: 2 }])
  expect(session?.state).toEqual({ first: 1, second: 2 })
})

test('it runs others inside, each time in a scope of its own, and their events pass through once', async () => {
  const helper = speaker('helper', 'one', 'two')
  const seen: unknown[] = []
  const agent = custom(
    'lead',
    async function* (context) {
      for (const _ of [1, 2]) {
        for await (const event of helper.run(context)) {
          seen.push(event.content?.parts[0]?.text)
          yield event
        }
      }
      yield say('all done')
    },
    [helper],
  )
  const { events, session } = await send(agent)
  expect(paths(events)).toEqual(['lead/helper@1', 'lead/helper@2', 'lead', 'lead'])
  expect(seen).toEqual(['one', 'two'])
  expect(session?.events).toHaveLength(5)
})

test('it decides by what the one inside has said', async () => {
  const judge = speaker('judge', 'guilty')
  const jail = speaker('jail', 'locked up')
  const agent = custom(
    'court',
    async function* (context) {
      let verdict = ''
      for await (const event of judge.run(context)) verdict += event.content?.parts[0]?.text ?? ''
      if (verdict === 'guilty') yield* jail.run(context)
    },
    [judge, jail],
  )
  const { text } = await send(agent)
  expect(text).toBe('locked up')
})

test('it knows what was recorded in its scope, and where that is', async () => {
  const seen: unknown[] = []
  const helper = speaker('helper', 'inside')
  const agent = custom(
    'lead',
    async function* (context) {
      seen.push([context.path, context.events.length])
      yield say('one')
      yield* helper.run(context)
      seen.push(paths(context.events))
    },
    [helper],
  )
  await send(new SequentialAgent({ name: 'line', subAgents: [agent] }))
  expect(seen).toEqual([
    ['line/lead@1', 0],
    ['line/lead@1', 'line/lead@1/helper@1'],
  ])
})

test('what it throws is reported as its error, and what it said before stays', async () => {
  const agent = custom('clerk', async function* () {
    yield say('I try.')
    throw new Error('out of ink')
  })
  const { events, error } = await send(
    new SequentialAgent({ name: 'line', subAgents: [agent, speaker('next', 'never')] }),
  )
  expect(events.map(({ author, errorCode }) => [author, errorCode])).toEqual([
    ['clerk', undefined],
    ['clerk', 'AGENT_ERROR'],
  ])
  expect(error).toEqual({ code: 'AGENT_ERROR', message: 'out of ink' })
})

test('it ends a loop by escalating', async () => {
  let rounds = 0
  const agent = custom('counter', async function* () {
    rounds++
    yield say(`round ${rounds}`, { actions: rounds === 3 ? { escalate: true } : {} })
  })
  const { text } = await send(new LoopAgent({ name: 'loop', maxIterations: 9, subAgents: [agent] }))
  expect(text).toBe('round 3')
})

test('its signal is aborted when the run is cancelled', async () => {
  let signal: AbortSignal | undefined
  const agent = custom('sleeper', async function* (context) {
    signal = context.signal
    yield say('zzz')
    await new Promise(() => {})
  })
  for await (const _ of runnerOf(agent).run({ userId: 'ada', message: 'Go' })) break
  expect(signal?.aborted).toBe(true)
})

test('it waits when the one inside waits, and is run again with the answer', async () => {
  let runs = 0
  const order = tool({ name: 'order', description: 'Orders', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const buyer = new LlmAgent({
    name: 'buyer',
    model: scriptedModel([{ calls: [{ name: 'order', id: 'o1' }] }, 'It has arrived.']),
    tools: [order],
  })
  const agent = custom(
    'shop',
    async function* (context) {
      runs++
      if (context.events.length === 0) yield say('Welcome.')
      yield* buyer.run(context)
      yield say('Goodbye.')
    },
    [buyer],
  )
  const runner = runnerOf(agent)
  const first = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Buy' })
  expect(first.pending).toMatchObject([{ kind: 'longRunning', functionCallId: 'o1', tool: 'order', agent: 'buyer' }])
  const message = [{ functionResponse: { id: 'o1', name: 'order', response: { box: 1 } } }]
  const second = await runner.complete({ userId: 'ada', sessionId: 's1', message })
  expect(second.events.map(({ content }) => content?.parts[0]?.text)).toEqual([
    'It has arrived.',
    'Goodbye.',
    undefined,
  ])
  expect(second.invocationId).toBe(first.invocationId)
  expect(runs).toBe(2)
})

test('something that is no list of events is an error, not a crash', async () => {
  const agent: Agent = { name: 'odd', run: () => 7 as never }
  expect((await send(agent)).error?.code).toBe('AGENT_ERROR')
})
