import { expect, test } from 'vitest'
import type { Model } from '../model/model.ts'
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
])('the model pattern %s matches the name %s: %s', (pattern, name, found) => {
  const resolve = modelResolver({ [pattern]: make('m') })
  if (found) expect(resolve(name, 'agent').name).toBe(`m:${name}`)
  else expect(() => resolve(name, 'agent')).toThrow(name)
})

test('modelResolver() uses the first pattern that matches', () => {
  const resolve = modelResolver({ 'a-*': make('first'), 'a-b': make('second') })
  expect(resolve('a-b', 'agent').name).toBe('first:a-b')
})

test('modelResolver() creates a model once per name', () => {
  const resolve = modelResolver({ '*': make('m') })
  expect(resolve('a', 'x')).toBe(resolve('a', 'y'))
  expect(resolve('b', 'x')).not.toBe(resolve('a', 'x'))
})

test.each([
  ['gemini-2.5-pro', 'toolwright/gemini'],
  ['gpt-5', 'toolwright/ai-sdk'],
  ['claude-opus', 'toolwright/ai-sdk'],
  ['constructor', "'pattern-*'"],
])('modelResolver() rejects the unknown model name %s with %s in the message', (name, cure) => {
  const resolve = modelResolver({})
  expect(() => resolve(name, 'writer')).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(cure) }),
  )
  expect(() => resolve(name, 'writer')).toThrow('Agent "writer"')
})
