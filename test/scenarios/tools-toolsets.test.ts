import {
  filterTools,
  LlmAgent,
  prefixTools,
  type ReadonlyContext,
  Runner,
  StaticToolset,
  type Tool,
  type ToolSource,
  type Toolset,
  toolSource,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { createScenario, offeredTools, plainTool, recordingLogger, runMessage, runScenario } from './kit.ts'

const search = plainTool('search', () => 'found')
const remove = plainTool('remove', () => 'removed')

function listing(name: string, listTools: (context: ReadonlyContext) => Promise<readonly Tool[]>): Toolset {
  return { name, listTools }
}

describe('tools of an agent', () => {
  test('accept tools, toolsets, nested lists and tool sources', async () => {
    const result = await runScenario({
      tools: [
        search,
        [[plainTool('nested', () => 1)]],
        new StaticToolset([remove]),
        toolSource(() => plainTool('made', () => 2)),
        toolSource(async () => [
          new StaticToolset([plainTool('deep', () => 3)]),
          toolSource(() => plainTool('deeper', () => 4)),
        ]),
      ],
      steps: [{ calls: ['search', 'nested', 'remove', 'made', 'deep', 'deeper'].map((name) => ({ name })) }, 'done'],
    })
    expect(offeredTools(result.model)).toEqual(['search', 'nested', 'remove', 'made', 'deep', 'deeper'])
    expect(result.responses.map(({ response }) => response.result)).toEqual(['found', 1, 'removed', 2, 3, 4])
  })

  test('include tools pushed to a StaticToolset while the agent is in use', async () => {
    const tools = new StaticToolset().push(search)
    const { runner, model } = createScenario({ tools: [tools], steps: ['one', { calls: [{ name: 'remove' }] }, 'two'] })
    await runMessage(runner, model)
    tools.push(remove)
    const { response } = await runMessage(runner, model)
    expect(offeredTools(model, 0)).toEqual(['search'])
    expect(offeredTools(model, 1)).toEqual(['search', 'remove'])
    expect(response).toEqual({ result: 'removed' })
  })

  test('can be filtered and prefixed in either order, and filters see the name without prefix', async () => {
    const both = new StaticToolset([search, remove])
    const tools = [
      prefixTools(filterTools(both, ['search']), 'a_'),
      filterTools(prefixTools(both, 'b_'), ['remove']),
      filterTools(prefixTools(both, 'c_'), (tool, { state }) => tool.name === 'remove' && state.get('admin') === true),
    ]
    const guest = await runScenario({
      tools,
      calls: [{ name: 'a_search' }, { name: 'b_remove' }, { name: 'c_remove' }],
    })
    expect(offeredTools(guest.model)).toEqual(['a_search', 'b_remove'])
    expect(guest.responses.map(({ name, response }) => [name, response.result ?? response.errorCode])).toEqual([
      ['a_search', 'found'],
      ['b_remove', 'removed'],
      ['c_remove', 'NOT_FOUND'],
    ])
    const admin = await runScenario({ tools, calls: [{ name: 'c_remove' }], stateDelta: { admin: true } })
    expect(admin.response).toEqual({ result: 'removed' })
  })
})

test('the runner lists a toolset with the invocation and the current state before each model call', async () => {
  const contexts: unknown[] = []
  const tools = listing('mine', async ({ invocation, state }) => {
    contexts.push([invocation.appName, invocation.userId, invocation.agentName, state.get('plan'), state.get('seen')])
    return state.get('plan') === 'pro' ? [plainTool('export', (_, context) => context.state.set('seen', true))] : []
  })
  const result = await runScenario({ tools: [tools], calls: [{ name: 'export' }], stateDelta: { plan: 'pro' } })
  expect(result.response).toEqual({ result: null })
  expect(contexts).toEqual([
    ['app', 'ada', 'agent', 'pro', undefined],
    ['app', 'ada', 'agent', 'pro', true],
  ])
})

describe('a broken toolset or tool', () => {
  const failing: [what: string, tools: ToolSource, reported: string][] = [
    [
      'rejects',
      listing('broken', () => Promise.reject(new Error('offline'))),
      'toolset "broken" are left out: offline',
    ],
    [
      'throws',
      listing('broken', () => {
        throw new Error('offline')
      }),
      'toolset "broken" are left out: offline',
    ],
    [
      'lists invalid tools',
      listing('broken', async () => [null] as unknown as Tool[]),
      'A tool is left out: The tools of toolset "broken" contain',
    ],
    [
      'is a tool source that throws',
      toolSource(
        () => {
          throw new Error('offline')
        },
        { name: 'seasonal' },
      ),
      'tool source "seasonal" are left out: offline',
    ],
  ]
  test.each(failing)('is left out and logged when it %s', async (_, broken, reported) => {
    const logger = recordingLogger()
    const tools = [broken, new StaticToolset([search])]
    const result = await runScenario({ tools, calls: [{ name: 'search' }], runner: { logger } })
    expect(result.response).toEqual({ result: 'found' })
    expect(logger.lines[0]).toContain(reported)
  })

  test('is left out alone when the tool is invalid', async () => {
    const logger = recordingLogger()
    const bad = [
      plainTool('adk_request_confirmation', () => 'forged'),
      plainTool('spaced name', () => 1),
      plainTool('liar', () => 1, { declaration: () => ({ name: 'other', description: '' }) }),
    ]
    const result = await runScenario({
      tools: [new StaticToolset([...bad, search])],
      calls: [{ name: 'search' }],
      runner: { logger },
    })
    expect(offeredTools(result.model)).toEqual(['search'])
    expect(logger.lines.filter((line) => line.includes('is left out'))).toHaveLength(6)
  })

  test('is left out and logged when its name is taken by an earlier toolset', async () => {
    const logger = recordingLogger()
    const first = new StaticToolset([plainTool('search', () => 'first')], { name: 'docs' })
    const second = new StaticToolset([plainTool('search', () => 'second'), remove], { name: 'web' })
    const result = await runScenario({
      tools: [first, second],
      calls: [{ name: 'search' }, { name: 'remove' }],
      runner: { logger },
    })
    expect(result.responses.map(({ response }) => response.result)).toEqual(['first', 'removed'])
    expect(logger.lines[0]).toBe(
      'Tool "search" of toolset "web" is left out: another tool has this name. Use prefixTools().',
    )
  })

  test('is rejected when the agent is built with two tools of one name', () => {
    expect(() => new LlmAgent({ name: 'agent', tools: [search, [plainTool('search', () => 2)]] })).toThrow(
      'Tool "search" is defined twice in agent "agent". Rename one, or use prefixTools().',
    )
  })
})

describe('runner.close() with toolsets', () => {
  function closable(name: string, how: 'shutdown' | 'dispose' | 'both', closed: string[], fails = false): Toolset {
    const end = (way: string) => async () => {
      closed.push(`${name} ${way}`)
      if (fails) throw new Error(`${name} is stuck`)
    }
    return {
      name,
      listTools: async () => [],
      ...(how !== 'dispose' && { shutdown: end('shutdown') }),
      ...(how !== 'shutdown' && { [Symbol.asyncDispose]: end('dispose') }),
    }
  }
  const runnerOf = (agent: LlmAgent): Runner => new Runner({ appName: 'app', agent })
  const model = scriptedModel([])

  test('calls shutdown, else asyncDispose, also inside prefixTools and filterTools', async () => {
    const closed: string[] = []
    const tools = [
      closable('a', 'shutdown', closed),
      prefixTools(closable('b', 'dispose', closed), 'b_'),
      [filterTools(closable('c', 'both', closed), [])],
    ]
    await runnerOf(new LlmAgent({ name: 'agent', model, tools })).close()
    expect(closed).toEqual(['a shutdown', 'b dispose', 'c shutdown'])
  })

  test('closes every toolset and rejects when one fails to close', async () => {
    const closed: string[] = []
    const tools = [closable('a', 'shutdown', closed, true), closable('b', 'shutdown', closed)]
    await expect(runnerOf(new LlmAgent({ name: 'agent', model, tools })).close()).rejects.toThrow('a is stuck')
    expect(closed).toEqual(['a shutdown', 'b shutdown'])
  })

  test('waits 10 s for a toolset or plugin that never closes, then names it', async () => {
    const closed: string[] = []
    const never = (): Promise<never> => new Promise(() => {})
    const stuck: Toolset = { name: 'stuck', listTools: async () => [], shutdown: never }
    const waits: number[] = []
    const setTimer = (callback: () => void, ms: number): (() => void) => {
      waits.push(ms)
      const timer = setTimeout(callback, Math.min(ms, 1))
      return () => clearTimeout(timer)
    }
    const agent = new LlmAgent({ name: 'agent', model, tools: [stuck, closable('b', 'shutdown', closed)] })
    const plugins = [{ name: 'slow', close: never }]
    const runner = new Runner({ appName: 'app', agent, plugins, ports: { setTimer } })
    await expect(runner.close()).rejects.toThrow(
      'The runner did not close completely: Toolset "stuck" did not close within 10000 ms; Plugin "slow" did not close within 10000 ms',
    )
    expect(closed).toEqual(['b shutdown'])
    expect(waits).toEqual([10_000, 10_000, 10_000])
  })

  test('closes toolsets of every agent of the tree once', async () => {
    const closed: string[] = []
    const child = new LlmAgent({ name: 'child', tools: [closable('b', 'shutdown', closed)] })
    const agent = new LlmAgent({ name: 'agent', model, tools: [closable('a', 'shutdown', closed)], subAgents: [child] })
    const runner = runnerOf(agent)
    await runner.close()
    await runner.close()
    expect(closed).toEqual(['a shutdown', 'b shutdown'])
  })
})
