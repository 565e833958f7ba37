import {
  agentTool,
  approve,
  confirm,
  InMemoryArtifactService,
  InMemorySessionService,
  LlmAgent,
  ParallelAgent,
  Runner,
  respond,
  SequentialAgent,
  type Tool,
  ToolError,
  tool,
  withParts,
} from 'toolwright'
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

test('a replay finds a gate that was removed, and one that was added', async () => {
  const make = (gated: boolean, model = noModel) =>
    new LlmAgent({ name: 'desk', model, tools: [gated ? confirm(count('pay')) : count('pay')] })
  const script = () => scriptedModel([{ calls: [{ name: 'pay' }] }, 'Paid.'])
  const removed = await replay(await record(make(true, script()), ['Pay']), make(false))
  expect(removed.difference).toMatchObject({ kind: 'entry', at: 3, what: 'record request' })
  const added = await replay(await record(make(false, script()), ['Pay']), make(true))
  expect(added.difference).toMatchObject({ kind: 'entry', at: 3, what: 'record intent' })
})

test('a replay finds calls that run in another order', async () => {
  const make = (sequential: boolean, model = noModel) =>
    new LlmAgent({
      name: 'desk',
      model,
      tools: [count('slow', { sequential: true }), count('a'), count('b')],
      beforeTool: async ({ tool }) => {
        if (sequential && tool.name === 'a') await Promise.resolve()
      },
      toolExecution: { parallel: sequential },
    })
  const calls = [{ name: 'a' }, { name: 'b' }, { name: 'slow' }]
  const recording = await record(make(true, scriptedModel([{ calls }, 'Done.'])), ['Go'])
  expect(await replay(recording, make(true))).toEqual(same)
  const bodies = recording.steps.filter((step) => 'body' in step)
  const swapped = [bodies[1], bodies[0], bodies[2]] as typeof bodies
  const steps = recording.steps.map((step) => ('body' in step ? (swapped.shift() ?? step) : step))
  const { difference } = await replay({ ...recording, steps }, make(true))
  expect(difference).toMatchObject({ kind: 'body', at: 2, what: 'scope desk' })
  expect(difference?.recorded).toContain('the body of b')
  expect(difference?.replayed).toContain('the body of a')
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
