// The spans of what is no text run in one process: live sessions, tools in the background, single calls.
import {
  background,
  InMemorySessionService,
  LlmAgent,
  Runner,
  retry,
  type Tool,
  ToolDispatcher,
  ToolError,
  tool,
} from 'toolwright'
import { connectLive } from 'toolwright/live'
import { otel } from 'toolwright/otel'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { idOf, parentOf, registerSdk, traceOf } from '../../src/adapters/otel/exported.test-kit.ts'
import { openWorld, pendingCall, where } from './background-engine-kit.ts'

type Sdk = ReturnType<typeof registerSdk>

const silent = { warn: () => {}, error: () => {} }
const add = tool({ name: 'add', description: 'Adds', effect: 'none', run: () => ({ sum: 3 }) })
const call = (name: string) => ({ calls: [{ name }] })

/** Each span with its parent, outcome, error and attempt, in the order in which they ended. */
function treeOf({ spans }: Sdk): unknown[] {
  const names = new Map(spans().map((span) => [idOf(span), span.name]))
  return spans().map((span) => {
    const { 'toolwright.outcome': outcome, 'error.type': error, 'toolwright.tool.attempt': attempt } = span.attributes
    const parent = parentOf(span)
    const shown = [span.name, parent === undefined ? 'no parent' : names.get(parent), outcome, error, attempt]
    return shown.filter((one) => one !== undefined).join(', ')
  })
}

function flakyTool(): Tool {
  let runs = 0
  const flaky = tool({
    name: 'flaky',
    description: 'Fails at first',
    effect: 'none',
    run: () => {
      if (++runs === 1) throw new ToolError('Not now.')
      return { runs }
    },
  })
  return retry(flaky, { attempts: 3, delayMs: 0 })
}

describe('a live session', () => {
  async function speak(script: Parameters<typeof scriptedLive>[0], tools: readonly Tool[]): Promise<Sdk> {
    const sdk = registerSdk()
    const model = scriptedLive(script)
    const agent = new LlmAgent({ name: 'voice', tools: [...tools] })
    const runner = new Runner({ appName: 'shop', agent, observers: [otel()], model: scriptedModel([]), logger: silent })
    const session = await connectLive({ runner, model, userId: 'ada' })
    await session.send('Go.')
    for await (const event of session) if (event.type === 'turnComplete') break
    await session.close()
    return sdk
  }

  test('has spans of its replies, its calls and their attempts, below one agent', async () => {
    const sdk = await speak(
      [{ calls: [{ name: 'add' }, { name: 'flaky' }, { name: 'no_such' }] }, 'Done.'],
      [add, flakyTool()],
    )
    const root = 'invoke_agent voice'
    const tree = treeOf(sdk)
    expect(tree.filter((line) => String(line).startsWith('execute_tool')).sort()).toEqual([
      `execute_tool _OTHER, ${root}, failed, NOT_FOUND`,
      `execute_tool add, ${root}, completed, 1`,
      `execute_tool flaky, ${root}, completed, 2`,
      `execute_tool flaky, ${root}, failed, EXECUTION_FAILED, 1`,
    ])
    expect(tree.filter((line) => String(line).startsWith('chat'))).toEqual([
      `chat scripted-live, ${root}, completed`,
      `chat scripted-live, ${root}, completed`,
    ])
    expect(tree.at(-1)).toBe(`${root}, no parent, completed`)
    expect(new Set(sdk.spans().map(traceOf)).size).toBe(1)
  })

  test('that is closed while a call runs has that call as cancelled', async () => {
    const sdk = registerSdk()
    const began = Promise.withResolvers<void>()
    const slow = tool({
      name: 'slow',
      description: 'Slow',
      effect: 'none',
      run: () => {
        began.resolve()
        return new Promise(() => {})
      },
    })
    const agent = new LlmAgent({ name: 'voice', tools: [slow] })
    const runner = new Runner({ appName: 'shop', agent, observers: [otel()], model: scriptedModel([]), logger: silent })
    const session = await connectLive({ runner, model: scriptedLive([{ calls: [{ name: 'slow' }] }]), userId: 'ada' })
    await session.send('Go.')
    await began.promise
    await session.close()
    expect(treeOf(sdk)).toContain('execute_tool slow, invoke_agent voice, cancelled, 1')
  })
})

describe('a tool in the background', () => {
  test('has a span below its agent, which has ended before', async () => {
    const sdk = registerSdk()
    const release = Promise.withResolvers<void>()
    const search = background(
      tool({
        name: 'search',
        description: 'Searches',
        effect: 'none',
        run: async () => {
          await release.promise
          return { hits: 3 }
        },
      }),
    )
    const agent = new LlmAgent({
      name: 'desk',
      model: scriptedModel([call('search'), 'Wait.', 'Found.']),
      tools: [search],
    })
    const runner = new Runner({ appName: 'shop', agent, observers: [otel()], logger: silent })
    await runner.complete({ ...where, message: 'Go' })
    expect(treeOf(sdk)).not.toContain(expect.stringContaining('search'))
    release.resolve()
    await runner.internals.backgroundOf(where)
    const [search1] = sdk.spans().filter(({ name }) => name === 'execute_tool search')
    const [first, second] = sdk.spans().filter(({ name }) => name === 'invoke_agent desk')
    if (!search1 || !first || !second) throw new Error('A span is missing.')
    expect([parentOf(search1), search1.attributes['toolwright.outcome']]).toEqual([idOf(first), 'completed'])
    expect(parentOf(second)).toBe(idOf(first))
    expect(new Set(sdk.spans().map(traceOf)).size).toBe(1)
  })

  /** Dispatches a call in one process, and has another one run its body. */
  async function runElsewhere(made: Tool, effect: Tool['effect'] = 'none', maxCrashes = 5): Promise<Sdk> {
    const sdk = registerSdk()
    const world = openWorld({ sessionService: new InMemorySessionService(), observers: [otel()] }, [
      call(made.name),
      'Found.',
    ])
    const away = tool({
      name: made.name,
      description: 'Elsewhere',
      effect,
      reconcile: () => ({ status: 'unknown' }),
      run: () => ({}),
    })
    const web = world.open({ tools: [background(away)] })
    await web.complete({ ...where, message: 'Search.' })
    const { id: callId } = await pendingCall(web)
    const worker = world.open({ tools: [background(made)] })
    expect(await world.engine.run(worker, where, callId, { maxCrashes })).toBe('done')
    return sdk
  }

  test('whose body another worker runs has its span there, in the trace of its invocation', async () => {
    const sdk = await runElsewhere(
      tool({ name: 'search', description: 'Searches', effect: 'none', run: () => ({ hits: 3 }) }),
    )
    const { attributes, ...span } = sdk.span('execute_tool search')
    expect(attributes).toMatchObject({
      'toolwright.outcome': 'completed',
      'gen_ai.agent.name': 'desk',
      'session.id': 's1',
    })
    const first = sdk.span('invoke_agent desk')
    expect(span.parentSpanContext).toMatchObject({ spanId: idOf(first), traceId: traceOf(first), isRemote: true })
  })

  test('whose body fails on a worker has each attempt, with its error', async () => {
    const sdk = await runElsewhere(flakyTool())
    const attempts = treeOf(sdk).filter((line) => String(line).startsWith('execute_tool'))
    expect(attempts).toEqual([
      'execute_tool flaky, invoke_agent desk, failed, EXECUTION_FAILED, 1',
      'execute_tool flaky, invoke_agent desk, completed, 2',
    ])
  })

  test('that no worker runs any more has a span of the call', async () => {
    const search = tool({ name: 'search', description: 'Searches', effect: 'none', run: () => ({ hits: 3 }) })
    const sdk = await runElsewhere(search, 'none', 0)
    expect(treeOf(sdk)).toContain('execute_tool search, invoke_agent desk, cancelled')
  })
})

describe('a single call', () => {
  test('has a span below that of its caller, and each attempt has its own', async () => {
    const sdk = registerSdk()
    const dispatcher = new ToolDispatcher({ observers: [otel()] }).register(add, flakyTool())
    await dispatcher.call('add')
    await dispatcher.call('flaky')
    expect(treeOf(sdk)).toEqual([
      'execute_tool add, invoke_agent dispatcher, completed, 1',
      'invoke_agent dispatcher, no parent, completed',
      'execute_tool flaky, invoke_agent dispatcher, failed, EXECUTION_FAILED, 1',
      'execute_tool flaky, invoke_agent dispatcher, completed, 2',
      'invoke_agent dispatcher, no parent, completed',
    ])
    expect(new Set(sdk.spans().map(traceOf)).size).toBe(2)
  })

  test('that fails has its error, and no text of it', async () => {
    const sdk = registerSdk()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => logged.mockRestore())
    const fails = tool({
      name: 'fails',
      description: 'Fails',
      run: () => {
        throw new Error('canary')
      },
    })
    const dispatcher = new ToolDispatcher({ observers: [otel()] }).register(fails)
    await dispatcher.call('fails').catch(() => undefined)
    expect(treeOf(sdk)[0]).toBe('execute_tool fails, invoke_agent dispatcher, failed, EXECUTION_FAILED, 1')
    expect(await sdk.text()).not.toContain('canary')
  })
})
