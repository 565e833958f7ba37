// Edge cases of runs: while a run opens, while it waits inside another agent, and when it ends early.
import {
  type Agent,
  agentTool,
  approve,
  createEvent,
  type Event,
  InMemorySessionService,
  LlmAgent,
  type Plugin,
  Runner,
  type RunnerOptions,
  SequentialAgent,
  StaticToolset,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const call = (name: string, args = {}): ScriptedStep => ({ calls: [{ name, args, id: name }] })
const home = { userId: 'u', sessionId: 's' }
const job = tool({ name: 'job', description: 'takes long', isLongRunning: true, run: () => ({ ticket: 7 }) })
const result = [{ functionResponse: { id: 'job', name: 'job', response: { box: 1 } } }]
const quiet = { warn: () => {}, error: () => {} }
const runnerOf = (agent: Agent, options: Partial<RunnerOptions> = {}): Runner =>
  new Runner({ appName: 'app', agent, logger: quiet, ...options })
const sessionOf = (runner: Runner) => runner.sessionService.getSession({ appName: 'app', ...home })

test('closing a runner rejects a run that is still starting', async () => {
  const runner = runnerOf(new LlmAgent({ name: 'a', model: scriptedModel(['hello']) }))
  const run = runner.run({ ...home, message: 'go', runConfig: { detach: true } })
  await runner.close()
  await expect(async () => {
    for await (const _ of run);
  }).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  expect((await sessionOf(runner))?.events ?? []).toEqual([])
})

test('an agent tool from a toolset pauses with its long-running call, and accepts new text and the result', async () => {
  const child = new LlmAgent({ name: 'child', model: scriptedModel([call('job'), 'got it']), tools: [job] })
  const model = scriptedModel([call('child', { request: 'x' }), 'meanwhile', 'all done'])
  const runner = runnerOf(new LlmAgent({ name: 'a', model, tools: [new StaticToolset([agentTool(child)])] }))
  expect((await runner.complete({ ...home, message: 'go' })).pending).toMatchObject([{ id: 'job', tool: 'job' }])
  expect((await runner.complete({ ...home, message: 'and?' })).text).toBe('meanwhile')
  expect((await runner.complete({ ...home, message: result })).text).toBe('all done')
})

test('a custom agent that stops iterating a child waits until the child has finished its call', async () => {
  const left = Promise.withResolvers<void>()
  const slow = tool({
    name: 'slow',
    description: 'slow',
    run: async () => {
      await left.promise
      return { done: true }
    },
  })
  const child = new LlmAgent({ name: 'child', model: scriptedModel([call('slow'), 'end']), tools: [slow] })
  const impatient: Agent = {
    name: 'impatient',
    subAgents: [child],
    async *run(context) {
      for await (const event of child.run(context)) {
        yield event
        queueMicrotask(left.resolve)
        break
      }
      yield createEvent({ content: { role: 'model', parts: [{ text: 'enough' }] } })
    },
  }
  const runner = runnerOf(impatient)
  const { events, text } = await runner.complete({ ...home, message: 'go' })
  expect(text).toBe('enough')
  expect(events.flatMap(({ content }) => content?.parts ?? []).some((part) => part.functionResponse)).toBe(true)
})

test('a custom agent that catches the pause of a child stays paused', async () => {
  const child = new LlmAgent({ name: 'child', model: scriptedModel([call('job'), 'thanks']), tools: [job] })
  const stubborn: Agent = {
    name: 'stubborn',
    subAgents: [child],
    async *run(context) {
      try {
        yield* child.run(context)
      } catch {} // ignores every error
    },
  }
  const runner = runnerOf(stubborn)
  expect((await runner.complete({ ...home, message: 'go' })).pending).toHaveLength(1)
  expect((await runner.complete({ ...home, message: result })).text).toBe('thanks')
})

test('new text that cancels a paused run yields the events of the cancellation', async () => {
  const agent = new LlmAgent({ name: 'a', model: scriptedModel([call('job'), 'new']), tools: [job] })
  const runner = runnerOf(agent, { whilePaused: 'cancel' })
  await runner.complete({ ...home, message: 'go' })
  const seen: Event[] = []
  for await (const event of runner.run({ ...home, message: 'something else' })) seen.push(event)
  expect(seen.map(({ errorCode, content }) => errorCode ?? content?.role)).toEqual(['tool', 'CANCELLED', 'model'])
})

test('plugins see the end of a cancelled run, and a hanging plugin does not block the cancellation', async () => {
  for (const hangs of [false, true]) {
    const seen: (string | undefined)[] = []
    const plugin: Plugin = {
      name: 'watch',
      onEvent: ({ event }) => {
        seen.push(event.errorCode)
        return hangs && event.errorCode ? new Promise<undefined>(() => {}) : undefined
      },
    }
    const timers = new Set<() => void>()
    const setTimer = (callback: () => void, _ms: number, options?: { background?: boolean }): (() => void) => {
      if (!options?.background) timers.add(callback)
      return () => timers.delete(callback)
    }
    let began = (): void => {}
    const running = new Promise<void>((resolve) => {
      began = resolve
    })
    const hang = tool({ name: 'hang', description: 'hangs', run: () => new Promise(() => began()) })
    const agent = new LlmAgent({ name: 'a', model: scriptedModel([call('hang')]), tools: [hang] })
    const runner = runnerOf(agent, { plugins: [plugin], ports: { setTimer } })
    const completion = runner.complete({ ...home, message: 'go' })
    await running
    const cancelled = runner.cancel(home)
    while (hangs && !seen.includes('CANCELLED')) await new Promise((resolve) => setImmediate(resolve))
    if (hangs) for (const fire of [...timers]) fire()
    await cancelled
    expect((await completion).error?.code).toBe('CANCELLED')
    expect(seen).toContain('CANCELLED')
  }
})

test('plugins see no events inside an agent tool with includePlugins false', async () => {
  const inside: (string | undefined)[] = []
  const plugin: Plugin = {
    name: 'watch',
    onEvent: ({ event }) => {
      inside.push(event.isolationScope)
    },
  }
  const child = new LlmAgent({ name: 'child', model: scriptedModel(['secret']) })
  const model = scriptedModel([call('child', { request: 'x' }), 'ok'])
  const tools = [agentTool(child, { includePlugins: false })]
  await runnerOf(new LlmAgent({ name: 'a', model, tools }), { plugins: [plugin] }).complete({ ...home, message: 'go' })
  expect(inside.length).toBeGreaterThan(0)
  expect(inside.filter(Boolean)).toEqual([])
})

test('set_model_response does not count against maxLlmCalls', async () => {
  const look = tool({ name: 'look', description: 'looks', run: () => 1 })
  const structured = new LlmAgent({
    name: 'structured',
    model: scriptedModel([call('set_model_response', { n: 1 })]),
    tools: [look],
    outputSchema: z.object({ n: z.number() }),
  })
  const plain = new LlmAgent({ name: 'plain', model: scriptedModel(['end']) })
  const runner = runnerOf(new SequentialAgent({ name: 'line', subAgents: [structured, plain] }))
  const { error, text } = await runner.complete({ ...home, message: 'go', runConfig: { maxLlmCalls: 2 } })
  expect([error, text]).toEqual([undefined, 'end'])
})

test('a structured output over maxResultBytes, or transformed by its schema, arrives completely', async () => {
  const look = tool({ name: 'look', description: 'looks', run: () => 1 })
  const long = 'x'.repeat(5_000)
  const child = new LlmAgent({
    name: 'child',
    description: 'answers',
    model: scriptedModel([call('set_model_response', { n: '7', long })]),
    tools: [look],
    outputSchema: z.object({ n: z.string().transform(Number), long: z.string() }),
    outputKey: 'answer',
  })
  const runner = runnerOf(child, { maxResultBytes: 1_000 })
  expect(JSON.parse((await runner.complete({ ...home, message: 'go' })).text)).toEqual({ n: '7', long })
  expect((await sessionOf(runner))?.state).toEqual({ answer: { n: 7, long } })

  const again = new LlmAgent({
    name: 'child',
    model: scriptedModel([call('set_model_response', { n: '7' })]),
    tools: [look],
    outputSchema: z.object({ n: z.string().transform(Number) }),
  })
  const parent = new LlmAgent({
    name: 'parent',
    model: scriptedModel([call('child', { request: 'x' }), 'ok']),
    tools: [agentTool(again)],
  })
  const { events } = await runnerOf(parent).complete({ ...home, message: 'go' })
  const response = events.find(({ author, content }) => author === 'parent' && content?.role === 'tool')
  expect(response?.content?.parts[0]?.functionResponse?.response).toEqual({ n: 7 })
})

test('state written by plugins and callbacks around a failed run is stored', async () => {
  const plugin: Plugin = {
    name: 'notes',
    beforeRun: ({ context }) => context.state.set('before', true),
    beforeModel: ({ context }) => {
      context.state.set('asked', true)
    },
    afterRun: ({ context }) => context.state.set('after', true),
  }
  const runner = runnerOf(new LlmAgent({ name: 'a', model: scriptedModel([{ error: 'down' }]) }), { plugins: [plugin] })
  expect((await runner.complete({ ...home, message: 'go' })).error?.code).toBe('MODEL_ERROR')
  expect((await sessionOf(runner))?.state).toEqual({ before: true, asked: true, after: true })
})

test('complete() returns an empty text for a paused run', async () => {
  const runner = runnerOf(new LlmAgent({ name: 'a', model: scriptedModel([call('job')]), tools: [job] }))
  const { text, pending } = await runner.complete({ ...home, message: 'go' })
  expect([text, pending.length]).toEqual(['', 1])
})

test('a cancel posted after one run does not cancel the next run', async () => {
  const timers: (() => void)[] = []
  let began = (): void => {}
  const running = new Promise<void>((resolve) => {
    began = resolve
  })
  let release = (): void => {}
  const slow = tool({
    name: 'slow',
    description: 'waits',
    run: () =>
      new Promise((resolve) => {
        release = () => resolve('ok')
        began()
      }),
  })
  const runner = runnerOf(
    new LlmAgent({ name: 'a', model: scriptedModel(['first', call('slow'), 'second']), tools: [slow] }),
    {
      ports: {
        setTimer: (callback, _ms, options) => {
          if (options?.background) timers.push(callback)
          return () => {}
        },
      },
    },
  )
  await runner.complete({ ...home, message: 'one' })
  await runner.sessionService.post({ appName: 'app', ...home }, { id: 'late', type: 'cancel' })
  const completion = runner.complete({ ...home, message: 'two' })
  await running
  for (const tick of timers.splice(0)) tick()
  await new Promise((resolve) => setImmediate(resolve))
  release()
  expect((await completion).text).toBe('second')
})

test('a plugin that hangs in afterRun does not block runner.cancel()', async () => {
  const timers = new Set<() => void>()
  let started = (): void => {}
  const hanging = new Promise<void>((resolve) => {
    started = resolve
  })
  const plugin: Plugin = {
    name: 'slow goodbye',
    afterRun: () => {
      started()
      return new Promise<void>(() => {})
    },
  }
  const runner = runnerOf(new LlmAgent({ name: 'a', model: scriptedModel(['hello', 'again']) }), {
    plugins: [plugin],
    ports: {
      setTimer: (callback, _ms, options) => {
        if (!options?.background) timers.add(callback)
        return () => timers.delete(callback)
      },
    },
  })
  const completion = runner.complete({ ...home, message: 'go' })
  await hanging
  const cancelled = runner.cancel(home)
  for (const fire of [...timers]) fire()
  await cancelled
  expect((await completion).text).toBe('hello')
})

test('an approval that a renamed root agent left open runs nothing, and cancel() frees the session', async () => {
  const ran: string[] = []
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ran.push('paid') })
  const sessionService = new InMemorySessionService()
  const start = (name: string, steps: ScriptedStep[]): Runner =>
    runnerOf(new LlmAgent({ name, model: scriptedModel(steps), tools: [pay] }), { sessionService })
  const { pending } = await start('old', [call('pay')]).complete({ ...home, message: 'Pay' })
  const renamed = start('new', ['Hello'])
  await expect(renamed.complete({ ...home, message: 'Hi' })).rejects.toMatchObject({ code: 'PAUSED' })
  const { error } = await renamed.complete({ ...home, message: pending.map((request) => approve(request)) })
  expect(error).toMatchObject({ code: 'AGENT_ERROR', message: expect.stringContaining('"old" is no longer') })
  await renamed.cancel(home)
  expect((await renamed.complete({ ...home, message: 'Hi' })).text).toBe('Hello')
  expect(ran).toEqual([])
})
