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
import { bare, notebook, offered, play, stage, tell } from './kit.ts'

const search = bare('search', () => 'found')
const remove = bare('remove', () => 'removed')

function listing(name: string, listTools: (context: ReadonlyContext) => Promise<readonly Tool[]>): Toolset {
  return { name, listTools }
}

describe('an agent takes tools from anywhere', () => {
  test('tools, toolsets, nested lists and dynamic tool sources', async () => {
    const told = await play({
      tools: [
        search,
        [[bare('nested', () => 1)]],
        new StaticToolset([remove]),
        toolSource(() => bare('made', () => 2)),
        toolSource(async () => [new StaticToolset([bare('deep', () => 3)]), toolSource(() => bare('deeper', () => 4))]),
      ],
      steps: [{ calls: ['search', 'nested', 'remove', 'made', 'deep', 'deeper'].map((name) => ({ name })) }, 'done'],
    })
    expect(offered(told.model)).toEqual(['search', 'nested', 'remove', 'made', 'deep', 'deeper'])
    expect(told.responses.map(({ response }) => response.result)).toEqual(['found', 1, 'removed', 2, 3, 4])
  })

  test('a static toolset grows, also while the agent is in use', async () => {
    const tools = new StaticToolset().push(search)
    const { runner, model } = stage({ tools: [tools], steps: ['one', { calls: [{ name: 'remove' }] }, 'two'] })
    await tell(runner, model)
    tools.push(remove)
    const { response } = await tell(runner, model)
    expect(offered(model, 0)).toEqual(['search'])
    expect(offered(model, 1)).toEqual(['search', 'remove'])
    expect(response).toEqual({ result: 'removed' })
  })

  test('filtered and prefixed, in either order, filters seeing the plain name', async () => {
    const both = new StaticToolset([search, remove])
    const tools = [
      prefixTools(filterTools(both, ['search']), 'a_'),
      filterTools(prefixTools(both, 'b_'), ['remove']),
      filterTools(prefixTools(both, 'c_'), (tool, { state }) => tool.name === 'remove' && state.get('admin') === true),
    ]
    const guest = await play({ tools, calls: [{ name: 'a_search' }, { name: 'b_remove' }, { name: 'c_remove' }] })
    expect(offered(guest.model)).toEqual(['a_search', 'b_remove'])
    expect(guest.responses.map(({ name, response }) => [name, response.result ?? response.errorCode])).toEqual([
      ['a_search', 'found'],
      ['b_remove', 'removed'],
      ['c_remove', 'NOT_FOUND'],
    ])
    const admin = await play({ tools, calls: [{ name: 'c_remove' }], stateDelta: { admin: true } })
    expect(admin.response).toEqual({ result: 'removed' })
  })
})

test('a toolset is asked with the invocation: who, where, and the state as it is now', async () => {
  const asked: unknown[] = []
  const tools = listing('mine', async ({ invocation, state }) => {
    asked.push([invocation.appName, invocation.userId, invocation.agentName, state.get('plan'), state.get('seen')])
    return state.get('plan') === 'pro' ? [bare('export', (_, context) => context.state.set('seen', true))] : []
  })
  const told = await play({ tools: [tools], calls: [{ name: 'export' }], stateDelta: { plan: 'pro' } })
  expect(told.response).toEqual({ result: null })
  expect(asked).toEqual([
    ['app', 'ada', 'agent', 'pro', undefined],
    ['app', 'ada', 'agent', 'pro', true],
  ])
})

describe('one bad supplier does not spoil the others', () => {
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
      'lists nonsense',
      listing('broken', async () => [null] as unknown as Tool[]),
      'Left out: The tools of toolset "broken" hold',
    ],
    [
      'is a function that throws',
      toolSource(
        () => {
          throw new Error('offline')
        },
        { name: 'seasonal' },
      ),
      'tool source "seasonal" are left out: offline',
    ],
  ]
  test.each(failing)('when it %s', async (_, broken, reported) => {
    const logger = notebook()
    const tools = [broken, new StaticToolset([search])]
    const told = await play({ tools, calls: [{ name: 'search' }], runner: { logger } })
    expect(told.response).toEqual({ result: 'found' })
    expect(logger.lines[0]).toContain(reported)
  })

  test('a tool that cannot be used is left out by itself', async () => {
    const logger = notebook()
    const bad = [
      bare('adk_request_confirmation', () => 'forged'),
      bare('spaced name', () => 1),
      bare('liar', () => 1, { declaration: () => ({ name: 'other', description: '' }) }),
    ]
    const told = await play({
      tools: [new StaticToolset([...bad, search])],
      calls: [{ name: 'search' }],
      runner: { logger },
    })
    expect(offered(told.model)).toEqual(['search'])
    expect(logger.lines.filter((line) => line.includes('is left out'))).toHaveLength(6)
  })

  test('of two toolsets with the same name in them the first one counts, and the clash is reported', async () => {
    const logger = notebook()
    const first = new StaticToolset([bare('search', () => 'first')], { name: 'docs' })
    const second = new StaticToolset([bare('search', () => 'second'), remove], { name: 'web' })
    const told = await play({
      tools: [first, second],
      calls: [{ name: 'search' }, { name: 'remove' }],
      runner: { logger },
    })
    expect(told.responses.map(({ response }) => response.result)).toEqual(['first', 'removed'])
    expect(logger.lines[0]).toBe(
      'Tool "search" of toolset "web" is left out: the name is already taken; use prefixTools()',
    )
  })

  test('two tools of one name are refused while the agent is built', () => {
    expect(() => new LlmAgent({ name: 'agent', tools: [search, [bare('search', () => 2)]] })).toThrow(
      'Tool "search" is defined twice in agent "agent". Rename one, or use prefixTools().',
    )
  })
})

describe('closing the runner closes its toolsets', () => {
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

  test('by shutdown, else by asyncDispose, also inside prefixes and filters', async () => {
    const closed: string[] = []
    const tools = [
      closable('a', 'shutdown', closed),
      prefixTools(closable('b', 'dispose', closed), 'b_'),
      [filterTools(closable('c', 'both', closed), [])],
    ]
    await runnerOf(new LlmAgent({ name: 'agent', model, tools })).close()
    expect(closed).toEqual(['a shutdown', 'b dispose', 'c shutdown'])
  })

  test('also when one of them fails, which is reported', async () => {
    const closed: string[] = []
    const tools = [closable('a', 'shutdown', closed, true), closable('b', 'shutdown', closed)]
    await expect(runnerOf(new LlmAgent({ name: 'agent', model, tools })).close()).rejects.toThrow('a is stuck')
    expect(closed).toEqual(['a shutdown', 'b shutdown'])
  })

  test('and waits 10 s for a toolset or plugin that never closes, then names it', async () => {
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
      'Closing failed: Toolset "stuck" did not close within 10000 ms; Plugin "slow" did not close within 10000 ms',
    )
    expect(closed).toEqual(['b shutdown'])
    expect(waits).toEqual([10_000, 10_000, 10_000])
  })

  test('of every agent of the tree, and once however often it is closed', async () => {
    const closed: string[] = []
    const child = new LlmAgent({ name: 'child', tools: [closable('b', 'shutdown', closed)] })
    const agent = new LlmAgent({ name: 'agent', model, tools: [closable('a', 'shutdown', closed)], subAgents: [child] })
    const runner = runnerOf(agent)
    await runner.close()
    await runner.close()
    expect(closed).toEqual(['a shutdown', 'b shutdown'])
  })
})
