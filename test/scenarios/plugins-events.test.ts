import { agentTool, type Event, InMemorySessionService, LlmAgent, type Plugin, Runner } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { plainTool, recordingLogger } from './kit.ts'

const follow = async (plugin: Omit<Plugin, 'name'>, steps: readonly ScriptedStep[], streaming = false) => {
  const model = scriptedModel(steps)
  const agent = new LlmAgent({ name: 'agent', model, tools: [plainTool('look', () => ({ pin: '1234' }))] })
  const runner = new Runner({
    appName: 'app',
    agent,
    plugins: [{ name: 'plugin', ...plugin }],
    logger: recordingLogger(),
  })
  const events: Event[] = []
  const run = runner.run({ userId: 'ada', sessionId: 's1', message: 'Go', runConfig: { streaming } })
  let failure: unknown
  try {
    for await (const event of run) events.push(event)
  } catch (error) {
    failure = error
  }
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
  return { events, stored: session?.events ?? [], model, runner, failure }
}
const text = ({ content }: Event) => content?.parts[0]?.text

test('onEvent sees every event before it is stored, including user and partial events', async () => {
  const seen: unknown[] = []
  const { events, stored } = await follow(
    { onEvent: ({ event }) => void seen.push([event.author, event.partial ?? false, event.id]) },
    [{ deltas: ['a', 'b'] }],
    true,
  )
  expect(seen).toEqual([
    ['user', false, stored[0]?.id],
    ...events.map(({ author, partial, id }) => [author, partial ?? false, id]),
  ])
  expect(events).toHaveLength(3)
})

test('the runner stores, yields and sends to the model the event that onEvent returns', async () => {
  const onEvent: Plugin['onEvent'] = ({ event }) => JSON.parse(JSON.stringify(event).replaceAll('pin-1234', '****'))
  const { events, stored, model } = await follow({ onEvent }, [{ calls: [{ name: 'look' }] }, 'Your pin is pin-1234.'])
  expect(text(events.at(-1) as Event)).toBe('Your pin is ****.')
  expect(stored.slice(1)).toEqual(events)
  expect(JSON.stringify(stored)).not.toContain('pin-1234')
  expect(JSON.stringify(model.requests)).not.toContain('pin-1234')
})

test("the runner passes the event of one plugin's onEvent to the next plugin", async () => {
  const add =
    (letter: string): Required<Plugin>['onEvent'] =>
    ({ event }) =>
      event.author === 'user'
        ? undefined
        : { ...event, content: { role: 'model', parts: [{ text: `${text(event)}${letter}` }] } }
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel(['a']) })
  const plugins = [
    { name: 'b', onEvent: add('b') },
    { name: 'c', onEvent: add('c') },
  ]
  const { events } = await new Runner({ appName: 'app', agent, plugins }).complete({ userId: 'ada', message: 'Go' })
  expect(events.map(text)).toEqual(['abc'])
})

test('onEvent cannot change id, author, timestamp or scope of an event', async () => {
  const forged = {
    id: 'forged',
    author: 'user',
    invocationId: 'forged',
    timestamp: 1,
    nodeInfo: { path: 'elsewhere' },
    branch: 'elsewhere',
    isolationScope: 'elsewhere',
    partial: true,
  }
  const { events, stored } = await follow({ onEvent: ({ event }) => ({ ...event, ...forged }) }, ['ok', 'never'])
  expect(events).toHaveLength(1)
  expect(stored).toHaveLength(2)
  expect(events[0]).toMatchObject({ author: 'agent', nodeInfo: { path: 'agent' } })
  for (const event of stored) {
    for (const [key, value] of Object.entries(forged)) {
      if (event.author === 'user' && key === 'author') continue
      expect(event[key as keyof Event], key).not.toEqual(value)
    }
  }
})

test('onEvent sees events inside agent tools', async () => {
  const seen: (string | undefined)[] = []
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel(['42']) })
  const agent = new LlmAgent({
    name: 'boss',
    model: scriptedModel([{ calls: [{ name: 'helper', args: { request: 'x' }, id: 'c1' }] }, 'ok']),
    tools: [agentTool(helper)],
  })
  const plugin: Plugin = { name: 'watch', onEvent: ({ event }) => void seen.push(event.isolationScope) }
  await new Runner({ appName: 'app', agent, plugins: [plugin] }).complete({ userId: 'ada', message: 'Go' })
  expect(seen.filter(Boolean)).toEqual(['boss/helper@c1', 'boss/helper@c1'])
})

test('the runner ends the agent with AGENT_ERROR and does not store the reply when onEvent throws', async () => {
  const onEvent: Plugin['onEvent'] = ({ event }) => {
    if (text(event) === 'secret') throw new Error('refused')
  }
  const { events, stored } = await follow({ onEvent }, ['secret'])
  expect(events.map(({ errorCode, errorMessage }) => [errorCode, errorMessage])).toEqual([['AGENT_ERROR', 'refused']])
  expect(JSON.stringify(stored)).not.toContain('secret')
})

test('the runner fails the run when onEvent always throws', async () => {
  const { failure, events } = await follow(
    {
      onEvent: () => {
        throw new Error('broken')
      },
    },
    ['ok'],
  )
  expect(failure).toMatchObject({ message: 'broken' })
  expect(events).toEqual([])
})

test('the runner fails the run when onEvent throws on a partial event', async () => {
  const onEvent: Plugin['onEvent'] = ({ event }) => {
    if (event.partial) throw new Error('broken')
  }
  const { failure } = await follow({ onEvent }, [{ deltas: ['a', 'b'] }], true)
  expect(failure).toMatchObject({ message: 'broken' })
})

test('the runner keeps the order of events with slow plugins', async () => {
  let n = 0
  const onEvent: Plugin['onEvent'] = async () => {
    if (n++ % 2) for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  const { events } = await follow({ onEvent }, [{ deltas: ['a', 'b', 'c', 'd'] }], true)
  expect(events.map(text)).toEqual(['a', 'b', 'c', 'd', 'abcd'])
})

test('the runner stores the same events with and without a plugin that returns copies', async () => {
  const shape = async (plugins: readonly Plugin[]) => {
    const sessionService = new InMemorySessionService()
    const agent = new LlmAgent({ name: 'agent', model: scriptedModel(['ok']) })
    const runner = new Runner({ appName: 'app', agent, sessionService, plugins })
    await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
    const session = await sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    return session?.events.map(({ author, content, actions, nodeInfo }) => ({ author, content, actions, nodeInfo }))
  }
  expect(await shape([{ name: 'watch', onEvent: ({ event }) => ({ ...event }) }])).toEqual(await shape([]))
})
