import {
  agentTool,
  approve,
  confirm,
  InMemoryArtifactService,
  InMemorySessionService,
  LlmAgent,
  type LlmResponse,
  type Model,
  ParallelAgent,
  prefixTools,
  Runner,
  respond,
  SequentialAgent,
  type Tool,
  ToolError,
  type Toolset,
  tool,
  withParts,
} from 'toolwright'
import { runEvals } from 'toolwright/eval'
import { OpenApiToolset } from 'toolwright/openapi'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { type Comparison, compareRecordings } from '../recording/compare-recordings.ts'
import { recordCase } from '../recording/record-case.ts'
import type { Recording } from '../recording/recording.ts'
import { caseRunner } from './eval-target.ts'
import { Replay } from './replay.ts'

const key = { userId: 'ada', sessionId: 's1' }

/** Runs a conversation and records it. `answers`: what the user sends after each message. */
async function record(agent: Agent, messages: readonly string[], answer = approveAll): Promise<Recording> {
  const sessionService = new InMemorySessionService()
  const artifactService = new InMemoryArtifactService()
  const logger = { warn() {}, error() {} }
  const runner = new Runner({ appName: 'shop', agent, sessionService, artifactService, logger })
  for (const message of messages) {
    await runner.complete({ ...key, message })
    for (;;) {
      const [request] = await runner.pending(key)
      if (!request) break
      await runner.complete({ ...key, message: [answer(request)] })
    }
  }
  const { entries } = (await sessionService.readLog({ appName: 'shop', ...key })) ?? { entries: [] }
  const session = await sessionService.getSession({ appName: 'shop', ...key })
  const made = await recordCase(
    { key: { appName: 'shop', ...key }, entries, state: { ...session?.state } },
    { target: agent, id: 'case' },
  )
  // as a file keeps it
  return JSON.parse(JSON.stringify(made.recording))
}

type Request = Parameters<typeof approve>[0]
const approveAll = (request: Request) =>
  request.kind === 'confirmation' ? approve(request) : respond(request, { done: 'yes' })

async function replay(recording: Recording, agent: Agent): Promise<Comparison> {
  const run = new Replay(recording)
  const runner = caseRunner(agent, { appName: recording.appName, parts: run.parts, ports: run.ports })
  await run.drive(runner, new AbortController().signal)
  return compareRecordings(recording, { entries: await run.entries(runner), steps: run.steps })
}

const same = { difference: undefined, notes: [] }
const noModel = scriptedModel(() => {
  throw new Error('A replay asks no model.')
})

let ran = 0
const count = (name: string, options: Partial<Tool> = {}): Tool =>
  tool({
    name,
    description: `Runs ${name}`,
    parameters: z.object({ n: z.number().default(1) }),
    run: ({ n }, { state }) => {
      ran++
      state.set(`${name}:n`, n)
      return { [name]: n }
    },
    ...(options as object),
  })

test('a replay runs no model and no body, and finds no difference', async () => {
  const make = (model = noModel) =>
    new LlmAgent({ name: 'desk', model, instruction: 'Help.', tools: [count('one'), confirm(count('two'))] })
  const script = scriptedModel([
    { calls: [{ name: 'one', args: { n: 2 } }, { name: 'two' }, { name: 'gone' }] },
    'Done.',
    { calls: [{ name: 'one', args: { n: 'x' } }] },
    'Sorry.',
  ])
  const recording = await record(make(script), ['Go', 'Again'])
  ran = 0
  expect(await replay(recording, make())).toEqual(same)
  expect(ran).toBe(0)
})

test('a replay gives errors, repeated failures, media and artifacts as recorded', async () => {
  const fail = tool({
    name: 'fail',
    description: 'Fails',
    run: () => {
      throw new ToolError('No such order.', { code: 'NOT_FOUND' })
    },
  })
  const draw = tool({
    name: 'draw',
    description: 'Draws',
    run: async (_, context) => {
      await context.saveArtifact('plan.txt', { text: 'A plan' })
      return withParts({ drawn: true }, [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }])
    },
  })
  const plain = tool({ name: 'plain', description: 'Text', outputSchema: z.string(), run: () => 'text' })
  const make = (model = noModel) => new LlmAgent({ name: 'desk', model, tools: [fail, draw, plain] })
  const call = { calls: [{ name: 'fail' }] }
  const script = scriptedModel([call, call, call, { calls: [{ name: 'draw' }, { name: 'plain' }] }, 'Done.'])
  expect(await replay(await record(make(script), ['Go']), make())).toEqual(same)
})

test('a replay makes the requests of bodies and takes results that come later', async () => {
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    run: (_, context) => {
      const answer = context.requestInput({ key: 'size', message: 'Which size?' })
      if (answer === undefined) return undefined
      context.requestConfirmation({ hint: 'Sure?' })
      return { answer }
    },
  })
  const ship = tool({ name: 'ship', description: 'Ships', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const make = (model = noModel) => new LlmAgent({ name: 'desk', model, tools: [ask, ship] })
  const script = scriptedModel([{ calls: [{ name: 'ask' }] }, { calls: [{ name: 'ship' }] }, 'Wait.', 'Done.'])
  const recording = await record(make(script), ['Go'])
  expect(recording.entries.filter(({ record }) => record?.type === 'request')).toHaveLength(2)
  expect(await replay(recording, make())).toEqual(same)
})

test('a replay gives each scope of parallel agents and agent tools its own replies', async () => {
  const make = (model = noModel) => {
    const expert = new LlmAgent({ name: 'expert', description: 'Knows', model, tools: [count('look')] })
    const branch = (name: string) => new LlmAgent({ name, model, tools: [agentTool(expert)] })
    return new SequentialAgent({
      name: 'root',
      subAgents: [new ParallelAgent({ name: 'both', subAgents: [branch('a'), branch('b')] }), branch('c')],
    })
  }
  let replies = 0
  const script = scriptedModel(async ({ contents, config }) => {
    // branches end in another order than they begin
    await new Promise((resolve) => setTimeout(resolve, 20 - (replies++ % 7) * 3))
    const last = contents.at(-1)?.parts[0]
    if (last?.functionResponse) return `Saw ${JSON.stringify(last.functionResponse.response)}`
    const isExpert = JSON.stringify(config.tools).includes('"look"')
    if (isExpert) return { calls: [{ name: 'look', args: { n: Number(last?.text) } }] }
    return { calls: [1, 2].map((n) => ({ name: 'expert', args: { request: String(replies * 10 + n) } })) }
  })
  const recording = await record(make(script), ['Go'])
  expect(new Set(recording.steps.map(({ scope }) => scope)).size).toBeGreaterThan(6)
  expect(await replay(recording, make())).toEqual(same)
})

test('an agent sees what parallel agents said in the recorded order, however fast they were', async () => {
  const make = (slow: string, model?: Model) => {
    const { promise: otherHasSpoken, resolve: afterAgent } = Promise.withResolvers<void>()
    const answer = (name: string) =>
      scriptedModel(async () => {
        if (name === slow) await otherHasSpoken
        return name
      })
    const agents = ['a', 'b'].map(
      (name) => new LlmAgent({ name, model: model ?? answer(name), afterAgent: () => afterAgent() }),
    )
    return new SequentialAgent({
      name: 'root',
      subAgents: [
        new ParallelAgent({ name: 'both', subAgents: agents }),
        new LlmAgent({ name: 'c', model: model ?? answer('c') }),
      ],
    })
  }
  const seen = new Set<string>()
  for (const slow of ['a', 'b']) {
    const recording = await record(make(slow), ['Go'])
    seen.add(JSON.stringify(recording.steps.at(-1))) // what c was shown, in the replay that records it
    const order = recording.entries.flatMap(({ event }) => (event?.content?.role === 'model' ? event.author : []))
    expect(order).toEqual(slow === 'a' ? ['b', 'a', 'c'] : ['a', 'b', 'c'])
    expect(await replay(recording, make('', noModel))).toEqual(same)
  }
  expect(seen.size).toBe(2)
})

test('a replay finds a gate that was removed, and one that was added', async () => {
  const make = (gated: boolean, model = noModel) =>
    new LlmAgent({ name: 'desk', model, tools: [gated ? confirm(count('pay')) : count('pay')] })
  const script = () => scriptedModel([{ calls: [{ name: 'pay' }] }, 'Paid.'])
  const removed = await replay(await record(make(true, script()), ['Pay']), make(false))
  expect(removed.difference).toMatchObject({ kind: 'entry', at: 3, what: 'record request' })
  const added = await replay(await record(make(false, script()), ['Pay']), make(true))
  expect(added.difference).toMatchObject({ kind: 'entry', at: 3, what: 'record intent' })
})

test('a replay finds a tool that does not run beside others any more', async () => {
  const make = (sequential: boolean, model = noModel) =>
    new LlmAgent({ name: 'desk', model, tools: [count('a'), count('b', { sequential }), count('c')] })
  const calls = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]
  const recording = await record(make(false, scriptedModel([{ calls }, 'Done.'])), ['Go'])
  expect(await replay(recording, make(false))).toEqual(same)
  const { difference } = await replay(recording, make(true))
  expect(difference).toMatchObject({
    kind: 'body',
    at: 3,
    what: 'scope desk',
    recorded: expect.stringMatching(/^the body of b .* starts while 1 other runs$/),
    replayed: expect.stringMatching(/^the body of b .* starts alone$/),
  })
  const earlier = recording.steps.map((step) => ('beside' in step ? { ...step, beside: undefined } : step))
  expect(await replay(JSON.parse(JSON.stringify({ ...recording, steps: earlier })), make(true))).toEqual(same)
})

test('a replay finds calls in another order', async () => {
  const make = (model = noModel, options = {}) =>
    new LlmAgent({ name: 'desk', model, tools: [count('a'), count('b')], ...options })
  const recording = await record(make(scriptedModel([{ calls: [{ name: 'a' }, { name: 'b' }] }, 'Done.'])), ['Go'])
  const afterModel = ({ response }: { response: LlmResponse }): LlmResponse => {
    const { content } = response
    return content ? { ...response, content: { ...content, parts: content.parts.toReversed() } } : response
  }
  const { difference } = await replay(recording, make(noModel, { afterModel }))
  expect(difference).toMatchObject({
    kind: 'entry',
    at: 2,
    what: 'event of desk',
    path: 'content.parts.0.functionCall.name',
  })
})

test('a replay finds a history rule that shows a model something else', async () => {
  const make = (model = noModel, options = {}) => new LlmAgent({ name: 'desk', model, tools: [], ...options })
  const recording = await record(make(scriptedModel(['One.', 'Two.'])), ['First', 'Second'])
  expect(await replay(recording, make())).toEqual(same)
  const { difference } = await replay(recording, make(noModel, { history: { lastTurns: 1 } }))
  expect(difference).toMatchObject({ kind: 'request', at: 2, path: 'contents.0' })
})

test('a replay notes a changed instruction, which is no fault', async () => {
  const make = (instruction: string, model = noModel) => new LlmAgent({ name: 'desk', model, instruction })
  const recording = await record(make('Be short.', scriptedModel(['Yes.'])), ['Go'])
  expect(await replay(recording, make('Be long.'))).toEqual({
    difference: undefined,
    notes: ['The instruction has changed in scope desk.'],
  })
})

/** A toolset whose server is asked only while `isUp`. Its tool waits for an approval. */
function remote(server: { isUp: boolean; description?: string }): Toolset {
  return {
    name: 'shop',
    isRemote: true,
    listTools: async () => {
      if (!server.isUp) throw new Error('A replay asks no server.')
      const { description = 'Pays' } = server
      const parameters = z.object({ n: z.number().default(1) })
      const confirmationHint = () => 'Pay at the shop?'
      return [
        tool({ name: 'pay', description, parameters, confirmationHint, requiresConfirmation: true, run: () => 1 }),
      ]
    },
  }
}

test('a replay lists the recorded tools of a server, with their gates, and the prefixes of today', async () => {
  const server = { isUp: true }
  const make = (prefix: string, model = noModel) =>
    new LlmAgent({ name: 'desk', model, tools: [prefixTools(remote(server), prefix)] })
  const recording = await record(make('s_', scriptedModel([{ calls: [{ name: 's_pay' }] }, 'Paid.'])), ['Pay'])
  expect(recording.entries.flatMap(({ record: one }) => (one?.type === 'request' ? one.hint : []))).toEqual([
    'Pay at the shop?',
  ])
  server.isUp = false
  expect(await replay(recording, make('s_'))).toEqual(same)
  const { difference, notes } = await replay(recording, make('shop_'))
  expect(difference).toMatchObject({ kind: 'entry', at: 3 })
  expect(notes).toContain('Tool "shop_pay" is not in the recording.')
  expect(notes).toContain('Tool "s_pay" is not declared any more.')
})

test('an agent and a toolset may have the name of a member of every object', async () => {
  const find = tool({ name: 'find', description: 'Finds', effect: 'none', run: () => ({ found: 3 }) })
  const remote = {
    name: 'constructor',
    isRemote: true,
    listTools: () => Promise.resolve([find]),
    close: async () => {},
  }
  const model = scriptedModel([{ calls: [{ name: 'find' }] }, 'Three.'])
  const agent = new LlmAgent({ name: 'constructor', model, tools: [remote] })
  const recording = await record(agent, ['Go.'])
  expect(recording.models.constructor).toEqual({ name: 'scripted' })
  expect(Object.entries(recording.toolsets)).toEqual([['constructor', [expect.objectContaining({ name: 'find' })]]])
  expect((await replay(recording, agent)).difference).toBeUndefined()
})

test('a recording that hangs ends with its signal', async () => {
  const said = new LlmAgent({ name: 'desk', model: scriptedModel(['Hello.']) })
  const { entries, state } = await record(said, ['Go.'])
  const instruction = (): Promise<never> => new Promise(() => {})
  const hanging = new LlmAgent({ name: 'desk', model: scriptedModel([]), instruction })
  const session = { key: { appName: 'shop', ...key }, entries, state }
  const signal = AbortSignal.timeout(50)
  await expect(recordCase(session, { target: hanging, id: 'case', signal })).rejects.toThrow('timeout')
})

test('a replay does not read an OpenAPI document that a function fetches', async () => {
  const server = { isUp: true }
  const paths = { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'Pets' } } } } }
  const spec = () => {
    if (!server.isUp) throw new Error('A replay asks no server.')
    return { openapi: '3.0.0', info: { title: 'Pets', version: '1' }, servers: [{ url: 'http://127.0.0.1:9' }], paths }
  }
  const fetch = async () => Response.json({ pets: [] })
  const make = (model = noModel) =>
    new LlmAgent({ name: 'desk', model, tools: [new OpenApiToolset({ name: 'pets', spec, fetch })] })
  const recording = await record(make(scriptedModel([{ calls: [{ name: 'list_pets' }] }, 'None.'])), ['List'])
  server.isUp = false
  expect(await replay(recording, make())).toEqual(same)
})

test('a replay names a tool whose declaration has changed', async () => {
  const make = (description: string, model = noModel) =>
    new LlmAgent({ name: 'desk', model, tools: [count('one', { description }), count('two')] })
  const recording = await record(make('Counts', scriptedModel(['Yes.'])), ['Go'])
  expect(await replay(recording, make('Counts again'))).toEqual({
    difference: undefined,
    notes: ['The declared tools have changed in scope desk.', 'Tool "one" has another declaration.'],
  })
})

test('a server whose tools have changed since the recording is noted when it is asked', async () => {
  const server = { isUp: true, description: 'Pays' }
  const make = () => {
    const model = scriptedModel([{ calls: [{ name: 'pay' }] }, 'Paid.'])
    return new LlmAgent({ name: 'desk', model, tools: [remote(server)] })
  }
  const recording = await record(make(), ['Pay'])
  const one = { id: 'pay', turns: [{ user: 'Pay', calls: [{ name: 'pay' }] }], recording }
  const notesOf = async (mode: 'live' | 'recorded-tools') =>
    (await runEvals({ sets: [{ id: 's', agent: make(), cases: [one] }], mode })).cases[0]?.trials[0]?.notes
  expect(await notesOf('live')).toEqual([])
  server.description = 'Pays twice'
  const changed = ['Tool "pay" of toolset "shop" has changed since the recording: description.']
  expect(await notesOf('live')).toEqual(changed)
  expect(await notesOf('recorded-tools')).toEqual(changed)
})
