// A function in `tools` is never called to find out what it is: tools that depend on the context say so with toolSource().
import { agentTool, LlmAgent, Runner, StaticToolset, type Toolset, tool, toolSource } from 'toolwright'
import { toAiSdkTools } from 'toolwright/ai-sdk'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { bare, notebook, offered, play, stage, tell } from './kit.ts'

const model = scriptedModel([])
const refused = (where: RegExp) =>
  expect.objectContaining({ code: 'NEEDS_INFER', message: expect.stringMatching(where) })

describe('a bare function', () => {
  let wiped = 0
  function wipeAll(): unknown {
    wiped++
    return { wiped: true }
  }

  test.each<[string, () => unknown]>([
    ['in tools', () => new LlmAgent({ name: 'a', model, tools: [wipeAll as never] })],
    ['in a nested list', () => new LlmAgent({ name: 'a', model, tools: [[[wipeAll as never]]] })],
    ['of an agent tool', () => agentTool(new LlmAgent({ name: 'a', model, tools: [wipeAll as never] }))],
    ['in a StaticToolset', () => new StaticToolset([wipeAll as never])],
    ['pushed to a StaticToolset', () => new StaticToolset().push(wipeAll as never)],
    ['for the AI SDK', () => toAiSdkTools([wipeAll as never], { userId: 'ada' })],
    ['that is a class', () => new LlmAgent({ name: 'a', model, tools: [StaticToolset as never] })],
  ])('%s is refused when built, and never called', (_where, make) => {
    expect(make).toThrow(refused(/bare function "\w+"\. Wrap it: tool\(\{.*toolSource\(fn\)/))
    expect(wiped).toBe(0)
  })

  test('handed to tool() still needs the build step', () => {
    expect(() => tool(wipeAll as never)).toThrow(refused(/toolwright\/infer/))
  })

  test('handed to agentTool() is no agent', () => {
    expect(() => agentTool(wipeAll as never)).toThrow('agentTool() takes an agent')
  })

  test.each<[string, Toolset | ReturnType<typeof toolSource>]>([
    ['a toolset', { name: 'odd', listTools: async () => [wipeAll as never, bare('read', () => 1)] }],
    ['a tool source', toolSource(() => [wipeAll as never, bare('read', () => 1)], { name: 'odd' })],
    [
      'a nested tool source',
      toolSource(() => toolSource(() => [wipeAll as never, bare('read', () => 1)], { name: 'odd' })),
    ],
  ])('listed by %s is left out and reported; the other tools stay', async (_what, source) => {
    const logger = notebook()
    const told = await play({ tools: [source], calls: [{ name: 'read' }], runner: { logger } })
    expect(offered(told.model)).toEqual(['read'])
    expect(told.response).toEqual({ result: 1 })
    expect(logger.lines[0]).toMatch(
      /Left out: The tools of (toolset|tool source) "odd" hold the bare function "wipeAll"/,
    )
    expect(wiped).toBe(0)
  })
})

describe('toolSource()', () => {
  test('is asked before each model call, with the context of the run', async () => {
    const asked = vi.fn(({ state }) => (state.get('beta') === true ? [bare('search', () => 'found')] : []))
    const { runner, model: said } = stage({
      tools: [toolSource(asked)],
      steps: ['one', { calls: [{ name: 'search' }] }, 'two'],
    })
    const { sessionId } = await tell(runner, said)
    const { response } = await tell(runner, said, { sessionId, stateDelta: { beta: true } })
    expect(response).toEqual({ result: 'found' })
    expect([0, 1, 2].map((at) => offered(said, at))).toEqual([[], ['search'], ['search']])
    expect(asked).toHaveBeenCalledTimes(3)
  })

  test('may return one tool, a toolset, a list or another source, also later', async () => {
    const given = [
      bare('search', () => 1),
      new StaticToolset([bare('search', () => 1)]),
      [[bare('search', () => 1)]],
      toolSource(() => bare('search', () => 1)),
    ]
    for (const one of given) {
      const told = await play({ tools: [toolSource(async () => one)], calls: [{ name: 'search' }] })
      expect(told.response).toEqual({ result: 1 })
    }
  })

  test('that fails is left out under its name, or the name of its function', async () => {
    const logger = notebook()
    function seasonal(): never {
      throw new Error('offline')
    }
    await play({ tools: [toolSource(seasonal), toolSource(seasonal, { name: 'winter' })], runner: { logger } })
    expect(logger.lines).toEqual(
      expect.arrayContaining([
        'The tools of tool source "seasonal" are left out: offline',
        'The tools of tool source "winter" are left out: offline',
      ]),
    )
  })

  test('that gives itself for ever is given up', async () => {
    const logger = notebook()
    const again: ReturnType<typeof toolSource> = toolSource(() => again, { name: 'again' })
    const told = await play({ tools: [again], steps: ['done'], runner: { logger } })
    expect(told.text).toBe('done')
    expect(logger.lines[0]).toContain('nested too deep')
  })

  test.each([undefined, {}, [], 'tools'])('takes a function, not %j', (wrong) => {
    expect(() => toolSource(wrong as never)).toThrow('toolSource() takes a function')
  })

  test('works in an agent behind an agent tool', async () => {
    const inner = scriptedModel([{ calls: [{ name: 'search' }] }, 'found it'])
    const helper = new LlmAgent({ name: 'helper', model: inner, tools: [toolSource(() => bare('search', () => 1))] })
    const told = await play({
      tools: [agentTool(helper)],
      calls: [{ name: 'helper', args: { request: 'search' } }],
    })
    expect(told.text).toBe('done')
    expect(offered(inner)).toEqual(['search'])
    expect(new Runner({ appName: 'app', agent: helper })).toBeInstanceOf(Runner)
  })
})
