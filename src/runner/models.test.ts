import { expect, test } from 'vitest'
import type { Model } from '../tool/model.ts'
import { modelResolver } from './models.ts'

const make = (kind: string) => (name: string) =>
  ({ name: `${kind}:${name}`, generate: () => [] as never }) satisfies Model

test.each([
  ['gemini-*', 'gemini-2.5-pro', true],
  ['gemini-*', 'my-gemini-2', false],
  ['*', 'anything', true],
  ['a.b', 'a.b', true],
  ['a.b', 'axb', false],
  ['a*c', 'abbc', true],
  ['a*c', 'abbd', false],
  ['a+(b)', 'a+(b)', true],
  ['*-pro', 'x-pro', true],
])('%s for %s: %s', (pattern, name, found) => {
  const resolve = modelResolver({ [pattern]: make('m') })
  if (found) expect(resolve(name, 'agent').name).toBe(`m:${name}`)
  else expect(() => resolve(name, 'agent')).toThrow(name)
})

test('the first pattern that fits is asked', () => {
  const resolve = modelResolver({ 'a-*': make('first'), 'a-b': make('second') })
  expect(resolve('a-b', 'agent').name).toBe('first:a-b')
})

test('a model is made once for each name', () => {
  const resolve = modelResolver({ '*': make('m') })
  expect(resolve('a', 'x')).toBe(resolve('a', 'y'))
  expect(resolve('b', 'x')).not.toBe(resolve('a', 'x'))
})

test.each([
  ['gemini-2.5-pro', 'toolwright/gemini'],
  ['gpt-5', 'toolwright/ai-sdk'],
  ['claude-opus', 'toolwright/ai-sdk'],
  ['constructor', "'pattern-*'"],
])('nobody answers to %s: the cure names %s', (name, cure) => {
  const resolve = modelResolver({})
  expect(() => resolve(name, 'writer')).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(cure) }),
  )
  expect(() => resolve(name, 'writer')).toThrow('Agent "writer"')
})
