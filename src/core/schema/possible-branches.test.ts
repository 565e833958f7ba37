import { expect, test } from 'vitest'
import { possibleBranches } from './possible-branches.ts'

const text = { type: 'string' }
const whole = { type: 'integer' }
const list = { type: 'array' }
const nothing = { type: 'null' }
const cat = { type: 'object', properties: { kind: { const: 'cat' }, born: text }, required: ['kind'] }
const dog = { type: 'object', properties: { kind: { enum: ['dog', 'wolf'] }, born: whole }, required: ['kind'] }
const root = { $defs: { Cat: cat, Pet: { anyOf: [{ $ref: '#/$defs/Cat' }, dog] } } }
const branches = [text, whole, list, nothing, { $ref: '#/$defs/Cat' }, dog]

test.each<[string, unknown, unknown[]]>([
  ['a string', 'x', [text]],
  ['a number', 5, [whole]],
  ['null', null, [nothing]],
  ['a list', [1], [list]],
  ['an object with the constant of a branch', { kind: 'cat' }, [{ $ref: '#/$defs/Cat' }]],
  ['an object with a value of an enum', { kind: 'wolf' }, [dog]],
  ['an object without a required property', {}, []],
  ['an object with a property of another type', { kind: 'dog', born: 'x' }, []],
])('possibleBranches() finds the branches for %s', (_, value, expected) => {
  expect(possibleBranches(value, branches, root)).toEqual(expected)
})

test('possibleBranches() looks into unions and references inside of a branch', () => {
  const pet = { $ref: '#/$defs/Pet' }
  expect(possibleBranches({ kind: 'dog' }, [pet, text], root)).toEqual([pet])
  expect(possibleBranches({ kind: 'cow' }, [pet, text], root)).toEqual([])
})

test('possibleBranches() keeps branches that it cannot tell apart', () => {
  const deep = (inner: object) => ({ type: 'object', properties: { a: { type: 'object', properties: { b: inner } } } })
  const both = [deep(text), deep(whole)]
  expect(possibleBranches({ a: { b: 1 } }, both, {})).toEqual(both)
})

test('possibleBranches() ends with references that refer to each other', () => {
  const circular = { $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } } }
  expect(possibleBranches(1, [{ $ref: '#/$defs/A' }], circular)).toHaveLength(1)
})

test('possibleBranches() takes no member of Object.prototype for a property or a definition', () => {
  const branch = { type: 'object', properties: { constructor: text }, required: ['toString'] }
  expect(possibleBranches({}, [branch], {})).toEqual([])
  expect(possibleBranches({ toString: 1 }, [branch], {})).toEqual([branch])
  expect(possibleBranches(1, [{ $ref: '#/$defs/constructor' }], { $defs: {} })).toHaveLength(1)
})
