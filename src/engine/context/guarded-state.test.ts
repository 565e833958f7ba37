import { inspect } from 'node:util'
import { expect, test, vi } from 'vitest'
import { scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { createToolContext } from '../../adapters/testing/tool-context.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { Runner } from '../runner/runner.ts'
import { tool } from '../tool/define-tool.ts'
import { guardState } from './guarded-state.ts'
import { readonlyState } from './state.ts'

/** The state as code without types sees it. */
// biome-ignore lint/suspicious/noExplicitAny: JavaScript has no types
const loose = (state: unknown): any => state

test('context.state["k"] = v in a tool body is an error of the call, not a lost write', async () => {
  const list = tool({
    name: 'list',
    description: 'List',
    run: (_, context) => {
      loose(context.state).last_listed = '/x'
      return { ok: true }
    },
  })
  const agent = new LlmAgent({ name: 'a', model: scriptedModel([{ calls: [{ name: 'list' }] }, 'ok']), tools: [list] })
  const logger = { warn: () => {}, error: () => {} }
  const { events } = await new Runner({ appName: 'a', agent, logger }).complete({ userId: 'u', message: 'x' })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({
    error:
      'context.state["last_listed"] cannot be assigned: state has methods, not properties. Use context.state.set("last_listed", value).',
    errorCode: 'EXECUTION_FAILED',
  })
})

test.each<[string, (state: ReturnType<typeof loose>) => unknown, string]>([
  ['an assignment', (state) => (state.k = 1), 'Use context.state.set("k", value).'],
  [
    'an assignment to a name that other code reads',
    (state) => (state.size = 1),
    'Use context.state.set("size", value).',
  ],
  ['Object.assign()', (state) => Object.assign(state, { k: 1 }), 'Use context.state.set("k", value).'],
  [
    'defineProperty()',
    (state) => Object.defineProperty(state, 'k', { value: 1 }),
    'Use context.state.set("k", value).',
  ],
  ['delete', (state) => delete state.k, 'Use context.state.delete("k").'],
  ['a read', (state) => state.k, 'Use context.state.get("k").'],
  ['a read of a key with a prefix', (state) => state['user:k'], 'Use context.state.get("user:k").'],
  ['in', (state) => 'k' in state, 'Use context.state.has("k").'],
])('%s of a property of the state is an error that names the method', (_what, use, message) => {
  expect(() => use(loose(createToolContext({ state: { k: 1 } }).state))).toThrow(message)
})

test('a write to the state of a read-only context says that it is read-only', () => {
  const state = loose(guardState(readonlyState(new Map())))
  expect(() => (state.k = 1)).toThrow('The state of this context is read-only.')
  expect(() => delete state.k).toThrow('The state of this context is read-only.')
})

test('the methods of the state work, also alone', () => {
  const { state, actions } = createToolContext({ state: { a: 1, b: 2 } })
  state.set('c', 3)
  state.delete('b')
  const { get, has, keys } = state
  expect([get('a'), get('d', 4), has('b'), keys().sort()]).toEqual([1, 4, false, ['a', 'c']])
  expect(actions.stateDelta).toEqual({ b: null, c: 3 })
})

test('the state can be printed, awaited, compared, written as JSON, frozen and mocked', async () => {
  const { state } = createToolContext({ state: { a: 1 } })
  expect(inspect(state)).toContain('WritableState')
  expect(await state).toBe(state)
  expect(JSON.stringify({ state })).toBe('{"state":{}}')
  expect(state).toEqual(state)
  expect({ ...state }).toEqual({})
  vi.spyOn(state, 'get').mockReturnValue(7)
  expect(state.get('a')).toBe(7)
  expect(() => Object.freeze(state)).not.toThrow()
})
