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
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { recordingLogger } from './kit.ts'

// Events of a custom agent need content only: the framework fills in the other members.
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
const speaker = (name: string, ...steps: ScriptedStep[]) => new LlmAgent({ name, model: scriptedModel(steps) })
const runnerOf = (agent: Agent) => new Runner({ appName: 'app', agent, logger: recordingLogger() })
const send = async (agent: Agent) => {
  const runner = runnerOf(agent)
  const done = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
  return { ...done, session }
}
const paths = (events: readonly Event[]) => events.map(({ nodeInfo }) => nodeInfo?.path)

test('the runner records events of a custom agent under its own id, author and path, whatever the agent claims', async () => {
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

test('the runner yields partial events of a custom agent and does not store them', async () => {
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

test('the runner puts state written by a custom agent on its next event, or on its end event', async () => {
  const agent = custom('clerk', async function* ({ state }) {
    state.set('first', 1)
    yield say('one')
    state.set('second', state.get<number>('first', 0) + 1)
  })
  const { events, session } = await send(agent)
  expect(events.map(({ actions }) => actions.stateDelta)).toEqual([{ first: 1 }, { second: 2 }])
  expect(session?.state).toEqual({ first: 1, second: 2 })
})

test('the runner runs a sub-agent twice in separate scopes and yields each of its events once', async () => {
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

test('the runner lets a custom agent choose the next sub-agent by the text of the previous one', async () => {
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

test('the runner shows a custom agent its scope path and the events of its scope', async () => {
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

test('the runner records an error thrown by a custom agent as AGENT_ERROR and keeps its earlier events', async () => {
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

test('the runner ends a loop when a custom agent escalates', async () => {
  let rounds = 0
  const agent = custom('counter', async function* () {
    rounds++
    yield say(`round ${rounds}`, { actions: rounds === 3 ? { escalate: true } : {} })
  })
  const { text } = await send(new LoopAgent({ name: 'loop', maxIterations: 9, subAgents: [agent] }))
  expect(text).toBe('round 3')
})

test('the runner aborts the signal of a custom agent when the consumer stops iterating', async () => {
  let signal: AbortSignal | undefined
  const agent = custom('sleeper', async function* (context) {
    signal = context.signal
    yield say('zzz')
    await new Promise(() => {})
  })
  for await (const _ of runnerOf(agent).run({ userId: 'ada', message: 'Go' })) break
  expect(signal?.aborted).toBe(true)
})

test('a custom agent is paused while its sub-agent waits for a result, and runs again with the result', async () => {
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

test('the runner records AGENT_ERROR when run of a custom agent returns no iterable', async () => {
  const agent: Agent = { name: 'odd', run: () => 7 as never }
  expect((await send(agent)).error?.code).toBe('AGENT_ERROR')
})
