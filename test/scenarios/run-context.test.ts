// runContext: a value that the app passes to the tools and callbacks of one run. It is typed, never stored and never shown to the model.
import {
  approve,
  createEvent,
  InMemorySessionService,
  LlmAgent,
  longRunning,
  Runner,
  type RunnerOptions,
  type ToolSource,
  tool,
  toolSource,
} from 'toolwright'
import { createToolContext, type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test, vi } from 'vitest'
import { requestFor } from './approvals-kit.ts'
import { silentLogger } from './kit.ts'

const secret = { tenant: 'acme-secret', read: () => 'from the database' }
const where = { userId: 'ada', sessionId: 's1' }
const callLook = { calls: [{ id: 'c1', name: 'look', args: {} }] }

function tenantOf(context: { readonly runContext: object }): string {
  return (context.runContext as typeof secret).tenant
}

function look(more: object = {}): ReturnType<typeof tool> {
  const run = (_: unknown, context: { readonly runContext: object }): object => ({ length: tenantOf(context).length })
  return tool({ name: 'look', description: 'Look', effect: 'none', run, ...more })
}

function runnerWith(tools: ToolSource[], more: Partial<RunnerOptions> = {}, agent: object = {}): Runner {
  const step: ScriptedStep = ({ contents }) => (contents.at(-1)?.role === 'tool' ? 'done' : callLook)
  const model = scriptedModel([step, step, step, step])
  return new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'agent', model, tools, ...agent }),
    logger: silentLogger,
    ...more,
  })
}

/** A store that fails when the first result is recorded, and works again afterwards. */
function failsOnce(): InMemorySessionService {
  const store = new InMemorySessionService()
  const append = store.append.bind(store)
  let appends = 0
  store.append = (...args) => (++appends === 3 ? Promise.reject(new Error('The disk is full.')) : append(...args))
  return store
}

test('tools, callbacks, instructions, tool sources, predicates and plugins read runContext', async () => {
  const seen: string[] = []
  const note = (where: string) => (given: { context: { readonly runContext: object } }) => {
    seen.push(`${where} ${tenantOf(given.context)}`)
  }
  const gated = look({
    requiresConfirmation: (_: object, context: { readonly runContext: object }) => {
      seen.push(`predicate ${tenantOf(context)}`)
      return false
    },
  })
  const source = toolSource((context) => {
    seen.push(`source ${tenantOf(context)}`)
    return [gated]
  })
  const instruction = (context: { readonly runContext: object }): string => {
    seen.push(`instruction ${tenantOf(context)}`)
    return 'Help.'
  }
  const agent = { instruction, beforeTool: note('beforeTool'), afterTool: note('afterTool') }
  const runner = runnerWith([source], { plugins: [{ name: 'p', beforeRun: note('plugin') }] }, agent)
  const { text } = await runner.complete({ userId: 'ada', message: 'go', runContext: secret })
  expect(text).toBe('done')
  expect(new Set(seen)).toEqual(
    new Set(
      ['plugin', 'source', 'instruction', 'predicate', 'beforeTool', 'afterTool'].map((at) => `${at} acme-secret`),
    ),
  )
})

test('a custom agent reads runContext', async () => {
  const agent = {
    name: 'own',
    async *run(context: { readonly runContext: object }) {
      yield createEvent({ content: { role: 'model', parts: [{ text: tenantOf(context) }] } })
    },
  }
  const { text } = await new Runner({ appName: 'app', agent }).complete({
    userId: 'ada',
    message: 'go',
    runContext: secret,
  })
  expect(text).toBe('acme-secret')
})

test('runContext is in no log, no model request and no event', async () => {
  const model = scriptedModel([callLook, 'done'])
  const store = new InMemorySessionService()
  const agent = new LlmAgent({ name: 'agent', model, tools: [look()], instruction: 'For {tenant?} {runContext?}.' })
  const runner = new Runner({ appName: 'app', agent, sessionService: store })
  const { events } = await runner.complete({ ...where, message: 'go', runContext: secret })
  const session = await store.getSession({ appName: 'app', ...where })
  expect(JSON.stringify([events, session, model.requests])).not.toContain('acme-secret')
})

test('two simultaneous runs have separate runContexts', async () => {
  const runner = runnerWith([look()])
  const ask = (tenant: string): Promise<{ events: readonly unknown[] }> =>
    runner.complete({ userId: 'ada', message: 'go', runContext: { ...secret, tenant } })
  const [one, two] = await Promise.all([ask('a'), ask('bb')])
  expect(JSON.stringify(one.events)).toContain('{"length":1}')
  expect(JSON.stringify(two.events)).toContain('{"length":2}')
})

test('reading a missing runContext fails the call with an error that names where to pass it', async () => {
  const { events } = await runnerWith([look()]).complete({ userId: 'ada', message: 'go' })
  expect(JSON.stringify(events)).toContain('pass it to runner.run(), complete(), resume(), recover() and cancel()')
})

test.each([5, 'text', null])('the runner rejects the runContext %j', async (runContext) => {
  const options = { userId: 'ada', message: 'go', runContext: runContext as unknown as object }
  await expect(runnerWith([look()]).complete(options)).rejects.toThrow('runContext')
})

test('a run resumed by an approval has the runContext of its own caller', async () => {
  const runner = runnerWith([look({ requiresConfirmation: true })])
  const paused = await runner.complete({ ...where, message: 'go', runContext: { ...secret, tenant: 'a' } })
  const message = [approve(requestFor(paused.pending))]
  const { events } = await runner.complete({ ...where, message, runContext: { ...secret, tenant: 'bb' } })
  expect(JSON.stringify(events)).toContain('{"length":2}')
})

test('recover() calls the runContext function for each session', async () => {
  const store = failsOnce()
  const crashed = runnerWith([look()], { sessionService: store })
  await expect(crashed.complete({ ...where, message: 'go', runContext: secret })).rejects.toThrow('disk')
  const runContextFor = vi.fn(async () => ({ ...secret, tenant: 'bb' }))
  const [run] = await runnerWith([look()], { sessionService: store }).recover({ runContext: runContextFor })
  const events: unknown[] = []
  for await (const event of run ?? []) events.push(event)
  expect(runContextFor).toHaveBeenCalledExactlyOnceWith(where)
  expect(JSON.stringify(events)).toContain('{"length":2}')
})

test('resume() accepts a runContext', async () => {
  const store = failsOnce()
  const runner = runnerWith([look()], { sessionService: store })
  await expect(runner.complete({ ...where, message: 'go', runContext: secret })).rejects.toThrow('disk')
  const events: unknown[] = []
  for await (const event of runner.resume({ ...where, runContext: { ...secret, tenant: 'bb' } })) events.push(event)
  expect(JSON.stringify(events)).toContain('{"length":2}')
})

test('cancel() passes runContext to cancel of a tool', async () => {
  const cancel = vi.fn(({ context }: { context: { readonly runContext: object } }) => tenantOf(context))
  const start = longRunning(look({ cancel, run: () => ({ status: 'pending' }), effect: 'atMostOnce' }))
  const runner = runnerWith([start])
  await runner.complete({ ...where, message: 'go', runContext: secret })
  await runner.cancel({ ...where, runContext: secret })
  expect(cancel).toHaveReturnedWith('acme-secret')
})

test('createToolContext() passes runContext to a tool under test', async () => {
  const context = createToolContext({ runContext: secret })
  expect(await look().run({}, context)).toEqual({ length: 11 })
})
