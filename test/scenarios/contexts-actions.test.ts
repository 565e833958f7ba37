// `context.actions`: a read shows every write of the body so far, and a write counts like the matching method.
import { inspect } from 'node:util'
import {
  type Actions,
  type CallbackContext,
  InMemoryArtifactService,
  LlmAgent,
  type LlmAgentOptions,
  type ToolContext,
  tool,
} from 'toolwright'
import { createToolContext, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { plainTool, runScenario } from './kit.ts'

type Told = Awaited<ReturnType<typeof runScenario>>

const inBody = (run: (context: ToolContext) => unknown, agent: Partial<LlmAgentOptions> = {}): Promise<Told> =>
  runScenario({
    tools: [plainTool('work', (_, context) => run(context))],
    calls: [{ name: 'work' }],
    agent,
    runner: { artifactService: new InMemoryArtifactService() },
  })

/** Each kind of context a body can have. */
const contexts: [string, (run: (context: ToolContext) => unknown) => Promise<unknown>][] = [
  ['in a run', async (run) => (await inBody(run)).response],
  [
    'of createToolContext',
    async (run) => await run(createToolContext({ artifactService: new InMemoryArtifactService() })),
  ],
]

describe.each(contexts)('context.actions %s', (_, inContext) => {
  test('show writes made by context methods', async () => {
    const seen = await inContext(async (context) => {
      const { actions } = context
      const before = JSON.stringify(actions)
      context.state.set('colour', 'red')
      context.state.delete('size')
      await context.saveArtifact('a.txt', { text: 'a' })
      context.transferToAgent('clerk')
      const after = JSON.stringify(actions)
      delete actions.transferToAgent
      return { before, after, keys: Object.keys(actions), isOne: actions === context.actions }
    })
    expect(seen).toEqual({
      before: '{}',
      after: JSON.stringify({
        stateDelta: { colour: 'red', size: null },
        artifactDelta: { 'a.txt': 0 },
        transferToAgent: 'clerk',
      }),
      keys: ['stateDelta', 'artifactDelta'],
      isOne: true,
    })
  })

  test('show requests made by the body', async () => {
    let actions: Actions | undefined
    let requested: unknown
    await Promise.resolve(
      inContext((context) => {
        actions = context.actions
        context.requestInput({ key: 'size', message: 'Which size?', schema: { type: 'string' } })
        try {
          context.requestConfirmation({ hint: 'Really?', payload: { amount: 5 } })
        } catch {} // requested: the body would end here
        requested = JSON.parse(JSON.stringify([context.functionCallId, context.actions]))
      }),
    )
    const [id, shown] = requested as [string, unknown]
    expect(shown).toEqual({
      requestedToolConfirmations: { [id]: { hint: 'Really?', confirmed: false, payload: { amount: 5 } } },
      requestedInputs: { size: { message: 'Which size?', schema: { type: 'string' } } },
    })
    expect(actions?.transferToAgent).toBeUndefined()
  })

  test('are read by context methods after direct writes', async () => {
    const seen = await inContext(({ actions, state }) => {
      actions.stateDelta.colour = 'red'
      actions.stateDelta.when = new Date(0)
      Object.assign(actions.stateDelta, { list: [1] })
      state.set('size', 3)
      delete actions.stateDelta.size
      const list = actions.stateDelta.list as number[]
      list.push(2) // a copy
      return [state.get('colour'), state.get('when'), state.get('list'), state.has('size'), { ...actions.stateDelta }]
    })
    const when = '1970-01-01T00:00:00.000Z'
    const expected = ['red', when, [1], false, { colour: 'red', when, list: [1] }]
    expect(seen).toEqual(Array.isArray(seen) ? expected : { result: expected })
  })

  test('accept a whole stateDelta that replaces earlier writes', async () => {
    const seen = await inContext(({ actions, state }) => {
      state.set('old', 1)
      actions.stateDelta = { ...actions.stateDelta, more: 2 }
      const merged = { ...actions.stateDelta }
      actions.stateDelta = { only: 3 }
      actions.artifactDelta['a.txt'] = 4
      return { merged, left: { ...actions.stateDelta }, has: state.has('old'), versions: { ...actions.artifactDelta } }
    })
    expect(seen).toEqual({ merged: { old: 1, more: 2 }, left: { only: 3 }, has: false, versions: { 'a.txt': 4 } })
  })

  test.each<[string, (actions: Actions) => void, RegExp]>([
    [
      'a transfer to a number',
      (actions) => void Object.assign(actions, { transferToAgent: 5 }),
      /transferToAgent must be the name of an agent.*got 5/,
    ],
    [
      'a transfer to a very long name',
      (actions) => void Object.assign(actions, { transferToAgent: 'x'.repeat(1_000) }),
      /at most 256 characters/,
    ],
    [
      'an escalation that is a text',
      (actions) => void Object.assign(actions, { escalate: 'no' }),
      /escalate must be true or false, got a string/,
    ],
    [
      'skipSummarization that is an object',
      (actions) => void Object.assign(actions, { skipSummarization: {} }),
      /skipSummarization must be true or false/,
    ],
    [
      'a stateDelta that is a list',
      (actions) => void Object.assign(actions, { stateDelta: [1] }),
      /stateDelta must be an object, got a list/,
    ],
    [
      'a state value that is too large',
      (actions) => void Object.assign(actions.stateDelta, { all: 'x'.repeat(11_000_000) }),
      /one event may write at most 10000000 bytes/,
    ],
    [
      'a stateDelta that is too large',
      (actions) => void Object.assign(actions, { stateDelta: { all: 'x'.repeat(11_000_000) } }),
      /one event may write at most 10000000 bytes/,
    ],
    [
      'a key that is a symbol',
      (actions) => void Reflect.set(actions.stateDelta, Symbol('x'), 1),
      /must be a string, got a symbol/,
    ],
    [
      'a negative artifact version',
      (actions) => void Object.assign(actions.artifactDelta, { a: -1 }),
      /artifactDelta\["a"\] must be a version/,
    ],
    [
      'artifact versions that are texts',
      (actions) => void Object.assign(actions, { artifactDelta: { a: '1' } }),
      /must be a version/,
    ],
    [
      'a very long artifact name',
      (actions) => void Object.assign(actions.artifactDelta, { ['x'.repeat(1_000)]: 1 }),
      /An artifact name has at most 256/,
    ],
    [
      'requestedToolConfirmations',
      (actions) => void Object.assign(actions, { requestedToolConfirmations: {} }),
      /cannot be written\. Call context\.requestConfirmation/,
    ],
    [
      'requestedInputs',
      (actions) => void Object.assign(actions, { requestedInputs: {} }),
      /Call context\.requestInput/,
    ],
    [
      'endOfAgent',
      (actions) => void Object.assign(actions, { endOfAgent: true }),
      /endOfAgent cannot be written\. Writable fields: stateDelta/,
    ],
    [
      'an unknown field',
      (actions) => void Object.assign(actions, { transfer_to_agent: 'x' }),
      /transfer_to_agent cannot be written/,
    ],
    ['setPrototypeOf', (actions) => void Object.setPrototypeOf(actions.stateDelta, null), /setPrototypeOf/],
    ['a getter', (actions) => void Object.defineProperty(actions.stateDelta, 'x', { get: () => 1 }), /defineProperty/],
    ['freeze', (actions) => void Object.freeze(actions), /preventExtensions/],
  ])('reject %s and keep earlier writes', async (_what, write, problem) => {
    const seen = await inContext((context) => {
      context.state.set('kept', true)
      let message = ''
      try {
        write(context.actions)
      } catch (error) {
        message = (error as Error).message
      }
      return { message, left: JSON.stringify(context.actions) }
    })
    expect(seen).toEqual({ message: expect.stringMatching(problem), left: '{"stateDelta":{"kept":true}}' })
  })

  test('do not reach Object.prototype through a key that a model chose', async () => {
    const seen = await inContext(({ actions }) => {
      const delta = actions.stateDelta as { [key: string]: { admin?: boolean } }
      const [key] = JSON.parse('["__proto__"]') as [string]
      const before = delta[key] ?? null
      delta[key] = { admin: true }
      return [before, delta[key], ({} as { admin?: boolean }).admin ?? null]
    })
    const expected = [null, { admin: true }, null]
    expect(seen).toEqual(Array.isArray(seen) ? expected : { result: expected })
  })

  test('accept 20,000 artifacts in linear time', async () => {
    const seen = await inContext(({ actions }) => {
      const delta = actions.artifactDelta
      for (let at = 0; at < 20_000; at++) delta[`file ${at}`] = at
      return { count: Object.keys(delta).length }
    })
    expect(seen).toEqual({ count: 20_000 })
  })

  test('keep `__proto__` as data and replace an unreadable value with a text', async () => {
    const seen = await inContext(({ actions, state }) => {
      actions.stateDelta = JSON.parse('{"__proto__":{"admin":true}}')
      actions.stateDelta.torn = new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('torn')
          },
        },
      )
      return [Object.keys(actions.stateDelta), state.get('torn'), ({} as { admin?: boolean }).admin ?? null]
    })
    const expected = [['__proto__', 'torn'], '[unreadable]', null]
    expect(seen).toEqual(Array.isArray(seen) ? expected : { result: expected })
  })
})

describe('writes to context.actions', () => {
  test('are recorded like writes of context methods', async () => {
    const byMethods = await inBody(async (context) => {
      context.state.set('colour', 'red')
      context.state.delete('size')
      await context.saveArtifact('a.txt', { text: 'a' })
    })
    const byHand = await inBody(({ actions }) => {
      actions.stateDelta.colour = 'red'
      actions.stateDelta.size = null
      actions.artifactDelta['a.txt'] = 0
    })
    expect(byHand.events[1]?.actions).toEqual(byMethods.events[1]?.actions)
    expect(byHand.state).toEqual({ colour: 'red' })
  })

  test('transfer, escalate and skip summarization', async () => {
    const clerk = new LlmAgent({ name: 'clerk', description: 'Helps', model: scriptedModel(['From the clerk.']) })
    const moved = await inBody(({ actions }) => void Object.assign(actions, { transferToAgent: 'clerk' }), {
      subAgents: [clerk],
    })
    expect(moved.text).toBe('From the clerk.')
    const nobody = await inBody(({ actions }) => void Object.assign(actions, { transferToAgent: 'nobody' }), {
      subAgents: [clerk],
    })
    expect(nobody.response).toMatchObject({ errorCode: 'NOT_FOUND' })
    const escalated = await inBody(({ actions }) => void Object.assign(actions, { escalate: true }))
    expect(escalated.events.at(-1)?.actions).toEqual({ escalate: true })
    const skipped = await inBody(({ actions }) => void Object.assign(actions, { skipSummarization: true }))
    expect(skipped.model.requests).toHaveLength(1)
  })

  test('are dropped when the body fails or reverts them', async () => {
    const failed = await inBody(({ actions }) => {
      actions.stateDelta.paid = true
      throw new Error('card declined')
    })
    expect(failed.events[1]?.actions).toEqual({})
    const taken = await inBody(({ actions, state }) => {
      state.set('paid', true)
      actions.escalate = true
      delete actions.stateDelta.paid
      actions.escalate = false
    })
    expect(taken.events[1]?.actions).toEqual({})
    expect(taken.text).toBe('done')
  })

  test('are not recorded after the call has ended', async () => {
    let late: Actions | undefined
    const result = await inBody(({ actions }) => {
      late = actions
      return Object.keys(actions)
    })
    if (late) late.stateDelta.late = true
    expect(result.events.map(({ actions }) => actions)).toEqual([{}, {}, {}])
    expect(result.state).toEqual({})
  })
})

test('context.actions in a callback reads and writes like in a body', async () => {
  const seen: unknown[] = []
  const writeTwice = ({ context }: { context: CallbackContext }): undefined => {
    context.state.set('requested', true)
    seen.push({ ...context.actions.stateDelta })
    context.actions.stateDelta.twice = context.state.get('requested')
    seen.push(context.state.get('twice'))
    expect(() => Object.assign(context.actions, { escalate: 1 })).toThrow(/escalate must be true or false/)
  }
  const { events, state } = await runScenario({ steps: ['Hi.'], agent: { beforeModel: writeTwice } })
  expect(seen).toEqual([{ requested: true }, true])
  expect(events[0]?.actions).toEqual({ stateDelta: { requested: true, twice: true } })
  expect(state).toEqual({ requested: true, twice: true })
})

test('context.actions of a body shows state written by beforeTool', async () => {
  const read = tool({
    name: 'read',
    description: 'Reads',
    run: (_, { state, actions }) => {
      actions.stateDelta.body = state.get('before')
      return { own: { ...actions.stateDelta } }
    },
  })
  const beforeTool = ({ context }: { context: ToolContext }): undefined =>
    void Object.assign(context.actions.stateDelta, { before: 1 })
  const result = await runScenario({ tools: [read], calls: [{ name: 'read' }], agent: { beforeTool } })
  expect(result.response).toEqual({ own: { body: 1 } })
  expect(result.events[1]?.actions.stateDelta).toEqual({ before: 1, body: 1 })
})

test('structuredClone() takes a copy of the state delta, whose values are plain data', () => {
  const { actions } = createToolContext()
  actions.stateDelta.order = { id: 1, items: ['lamp'] }
  expect(structuredClone({ ...actions.stateDelta })).toEqual({ order: { id: 1, items: ['lamp'] } })
})

test('inspect() shows the written actions', () => {
  const context = createToolContext()
  context.actions.stateDelta.colour = 'red'
  context.actions.escalate = true
  expect(inspect(context.actions)).toBe("{ stateDelta: { colour: 'red' }, escalate: true }")
  expect(inspect(context.stateDelta)).toBe("{ colour: 'red' }")
})
