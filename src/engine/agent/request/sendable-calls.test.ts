import { describe, expect, test } from 'vitest'
import type { Part } from '../../../core/content/content.ts'
import { fitPart, isSendable } from './sendable-calls.ts'

const call = (id: unknown, name: unknown = 'look', args: unknown = {}): Part =>
  ({ functionCall: { id, name, args } }) as Part

test('fitPart() returns valid parts unchanged', () => {
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

test('fitPart() makes every call id unique and valid for providers', () => {
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

describe('a tool name', () => {
  test.each([
    ['with a space', 'look up', 'look_up'],
    ['that is empty', '', '_'],
    ['that starts with a digit', '1st', '_1st'],
    ['of 200 characters', 'x'.repeat(200), 'x'.repeat(64)],
    ['with quotes and slashes', 'rm -rf "/"', 'rm_-rf____'],
  ])('%s is replaced by a valid name', (_what, name, as) => {
    expect(fitPart(call('c', name), undefined)?.functionCall?.name).toBe(as)
  })

  test('with a dot is kept', () => {
    expect(fitPart(call('c', 'db.read'), undefined)?.functionCall?.name).toBe('db.read')
  })
})

test.each([['half a text'], [null], [[1]], [undefined]])(
  'fitPart() replaces arguments that are not an object (%s) with an empty object',
  (args) => {
    expect(fitPart(call('c', 'look', args), undefined)?.functionCall?.args).toEqual({})
  },
)

test.each<[string, Part]>([
  ['an empty text', { text: '' }],
  ['white space', { text: ' \n\t' }],
  ['an empty part', {}],
  ['a response in a model reply', { functionResponse: { id: 'c', name: 'look', response: {} } }],
])('fitPart() leaves out %s', (_what, part) => {
  expect(fitPart(part, undefined)).toBeUndefined()
})

test('fitPart() keeps an empty part with a signature', () => {
  const part = { text: '', thoughtSignature: 'c2ln' }
  expect(fitPart(part, undefined)).toBe(part)
})
