import { expect, test } from 'vitest'
import { InMemoryArtifactService } from '../../artifact/in-memory.ts'
import type { ReadonlyContext } from '../../tool/context.ts'
import { constantText, fill } from './instruction.ts'

const artifactService = new InMemoryArtifactService()
const context = (state: { [key: string]: unknown }, load?: (filename: string) => Promise<unknown>) =>
  ({
    invocation: { agentName: 'agent', services: load ? { artifacts: { load } } : {} },
    state: { get: (key: string) => state[key] },
  }) as unknown as ReadonlyContext

test.each([
  ['{a}', { a: 'x' }, 'x'],
  ['{a}{a?}-{_b1}', { a: 'x', _b1: 'y' }, 'xx-y'],
  ['{user:a} {app:a} {temp:a}', { 'user:a': 1, 'app:a': true, 'temp:a': { k: [1] } }, '1 true {"k":[1]}'],
  ['{a} and {b?}.', { a: '' }, ' and .'],
  ['{a}', { a: '$& $1 {b}', b: 'no' }, '$& $1 {b}'],
  ['{a}', { a: 0 }, '0'],
  ['{a}', { a: false }, 'false'],
])('%s is filled', async (text, state, expected) => {
  expect(await fill(text, context(state))).toBe(expected)
})

test.each(['{}', '{"a": 1}', '{ a }', '{a b}', '{1}', '{a.b}', '{other:a}', '{a-b}', '${', '{{', 'a}', "{'a'}"])(
  '%s is left as it is, and is known never to change',
  async (text) => {
    expect(await fill(text, context({ a: 'x' }))).toBe(text)
    expect(constantText(text)).toEqual({ text })
  },
)

test.each(['{a}', '{user:a}', '{artifact.a.txt}'])('%s without a value says how to allow that', async (text) => {
  const load = async () => undefined
  const error = await fill(text, context({}, load)).catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'INVALID_CONFIG' })
  expect(error.message).toContain('agent "agent"')
  expect(error.message).toContain(`Write ${text.replace('}', '?}')}`)
})

test('a name that every object has is not state', async () => {
  const state = new Map<string, unknown>()
  const asking = { ...context({}), state: { get: (key: string) => state.get(key) } } as unknown as ReadonlyContext
  await expect(fill('{constructor}', asking)).rejects.toThrow('{constructor?}')
})

test('text with placeholders, and a function, may change', () => {
  expect(constantText('{a?}')).toBeUndefined()
  expect(constantText(() => 'x')).toBeUndefined()
  expect(constantText(undefined)).toEqual({ text: undefined })
  expect(constantText('plain')).toEqual({ text: 'plain' })
})

test('a function’s text is its own', async () => {
  expect(await fill(() => '{a}', context({ a: 'x' }))).toBe('{a}')
  expect(await fill(async ({ state }) => `${state.get('a')}`, context({ a: 'x' }))).toBe('x')
})

test('an artifact is asked for by its whole name', async () => {
  const key = { appName: 'app', userId: 'ada', sessionId: 's1' }
  await artifactService.saveArtifact({ ...key, filename: 'user:style guide.md', artifact: { text: 'Be brief.' } })
  const load = (filename: string) => artifactService.loadArtifact({ ...key, filename })
  expect(await fill('{artifact.user:style guide.md}', context({}, load))).toBe('Be brief.')
})

test('an artifact that cannot be read is not taken for a missing one', async () => {
  const load = async () => {
    throw new Error('disk on fire')
  }
  await expect(fill('{artifact.a?}', context({}, load))).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('disk on fire'),
  })
})
