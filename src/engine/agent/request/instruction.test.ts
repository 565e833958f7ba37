import { expect, test } from 'vitest'
import { InMemoryArtifactService } from '../../../services/artifact/in-memory.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import { constantText, fillInstruction } from './instruction.ts'

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
])('fillInstruction() fills %s', async (text, state, expected) => {
  expect(await fillInstruction(text, context(state))).toBe(expected)
})

test.each(['{}', '{"a": 1}', '{ a }', '{a b}', '{1}', '{a.b}', '{other:a}', '{a-b}', '${', '{{', 'a}', "{'a'}"])(
  'fillInstruction() leaves %s unchanged, and the text counts as constant',
  async (text) => {
    expect(await fillInstruction(text, context({ a: 'x' }))).toBe(text)
    expect(constantText(text)).toEqual({ text })
  },
)

test.each(['{a}', '{user:a}', '{artifact.a.txt}'])(
  'fillInstruction() suggests the optional form when %s has no value',
  async (text) => {
    const load = async () => undefined
    const error = await fillInstruction(text, context({}, load)).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'INVALID_CONFIG' })
    expect(error.message).toContain('agent "agent"')
    expect(error.message).toContain(`or write ${text.replace('}', '?}')}`)
  },
)

test('fillInstruction() rejects {constructor} as not set, although Object.prototype has that member', async () => {
  const state = new Map<string, unknown>()
  const asking = { ...context({}), state: { get: (key: string) => state.get(key) } } as unknown as ReadonlyContext
  await expect(fillInstruction('{constructor}', asking)).rejects.toThrow('{constructor?}')
})

test('constantText() returns undefined for a text with placeholders and for a function', () => {
  expect(constantText('{a?}')).toBeUndefined()
  expect(constantText(() => 'x')).toBeUndefined()
  expect(constantText(undefined)).toEqual({ text: undefined })
  expect(constantText('plain')).toEqual({ text: 'plain' })
})

test('fillInstruction() does not fill placeholders in the text of a function', async () => {
  expect(await fillInstruction(() => '{a}', context({ a: 'x' }))).toBe('{a}')
  expect(await fillInstruction(async ({ state }) => `${state.get('a')}`, context({ a: 'x' }))).toBe('x')
})

test('fillInstruction() loads an artifact by its complete name', async () => {
  const key = { appName: 'app', userId: 'ada', sessionId: 's1' }
  await artifactService.saveArtifact({ ...key, filename: 'user:style guide.md', artifact: { text: 'Be brief.' } })
  const load = (filename: string) => artifactService.loadArtifact({ ...key, filename })
  expect(await fillInstruction('{artifact.user:style guide.md}', context({}, load))).toBe('Be brief.')
})

test('fillInstruction() rejects with STORAGE when an artifact cannot be read', async () => {
  const load = async () => {
    throw new Error('disk on fire')
  }
  await expect(fillInstruction('{artifact.a?}', context({}, load))).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('disk on fire'),
  })
})
