import { describe, expect, test } from 'vitest'
import type { Part } from '../../content/content.ts'
import { fitPart, isSendable } from './sendable-calls.ts'

const call = (id: unknown, name: unknown = 'look', args: unknown = {}): Part =>
  ({ functionCall: { id, name, args } }) as Part

test('what is fit is shown as it is', () => {
  const used = new Set<string>()
  for (const part of [
    call('call_0'),
    call('toolu_01-b'),
    { text: 'hi' },
    { inlineData: { data: '', mimeType: 'a/b' } },
  ]) {
    expect(fitPart(part, used)).toBe(part)
  }
})

test('an id is used once, and has nothing in it that a provider would refuse', () => {
  const used = new Set<string>()
  const ids = [
    'call_0',
    'call_0',
    'call_0',
    'functions.look:0',
    '',
    undefined,
    'x'.repeat(65),
    '__proto__',
    '__proto__',
    'é/@',
  ]
  const given = ids.map((id) => fitPart(call(id), used)?.functionCall?.id)
  expect(given.slice(0, 3)).toEqual(['call_0', 'call_0_1', 'call_0_2'])
  expect(new Set(given).size).toBe(ids.length)
  expect(given.every(isSendable)).toBe(true)
})

describe('a name no tool can have is shown as one it could', () => {
  test.each([
    ['look up', 'look_up'],
    ['', '_'],
    ['1st', '_1st'],
    ['x'.repeat(200), 'x'.repeat(64)],
    ['rm -rf "/"', 'rm_-rf____'],
    ['db.read', 'db.read'],
  ])('%s', (name, as) => {
    expect(fitPart(call('c', name), undefined)?.functionCall?.name).toBe(as)
  })
})

test.each([['half a text'], [null], [[1]], [undefined]])('arguments that are no object (%s) are none', (args) => {
  expect(fitPart(call('c', 'look', args), undefined)?.functionCall?.args).toEqual({})
})

test.each<[string, Part]>([
  ['no text', { text: '' }],
  ['white space', { text: ' \n\t' }],
  ['nothing', {}],
  ['a response of a model', { functionResponse: { id: 'c', name: 'look', response: {} } }],
])('%s is not shown', (_what, part) => {
  expect(fitPart(part, undefined)).toBeUndefined()
})

test('a signature may hang on a part that says nothing', () => {
  const part = { text: '', thoughtSignature: 'c2ln' }
  expect(fitPart(part, undefined)).toBe(part)
})
