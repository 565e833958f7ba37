import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../base/json.ts'
import { createMarkedConverter, hasTypeMarks, withoutTypeMarks } from './marked-strings.ts'

const date = { type: 'string', format: 'date-time', 'x-toolwright-type': 'Date' }
const bytes = { type: 'string', contentEncoding: 'base64', 'x-toolwright-type': 'Uint8Array' }
const objectOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties })
const noon = '2026-01-31T12:00:00Z'
const asDate = new Date(noon)

describe('createMarkedConverter() replaces the marked strings', () => {
  test.each<[string, JsonObject, unknown, unknown]>([
    [
      'of a property',
      objectOf({ at: date, name: { type: 'string' } }),
      { at: noon, name: noon },
      { at: asDate, name: noon },
    ],
    ['that are bytes', objectOf({ file: bytes }), { file: 'aGk=' }, { file: new Uint8Array([104, 105]) }],
    ['that are no bytes at all', objectOf({ file: bytes }), { file: '' }, { file: new Uint8Array(0) }],
    ['of a list', objectOf({ all: { type: 'array', items: date } }), { all: [noon, noon] }, { all: [asDate, asDate] }],
    [
      'of a tuple with a rest',
      objectOf({ t: { type: 'array', prefixItems: [{ type: 'string' }, date], items: bytes } }),
      { t: [noon, noon, 'aGk='] },
      { t: [noon, asDate, new Uint8Array([104, 105])] },
    ],
    ['of a record', { type: 'object', additionalProperties: date }, { a: noon }, { a: asDate }],
    [
      'of keys that match a pattern',
      { type: 'object', properties: { 'x-b': { type: 'string' } }, patternProperties: { '^x-': date } },
      { 'x-a': noon, 'x-b': noon, y: noon },
      { 'x-a': asDate, 'x-b': noon, y: noon },
    ],
    [
      'of a union with null',
      objectOf({ a: { anyOf: [date, { type: 'null' }] }, b: { anyOf: [date, { type: 'null' }] } }),
      { a: null, b: noon },
      { a: null, b: asDate },
    ],
    [
      'of a union with literals',
      objectOf({ a: { anyOf: [{ type: 'string', enum: ['now', 'never'] }, date] } }),
      { a: 'now' },
      { a: 'now' },
    ],
    [
      'of a union with numbers and lists',
      objectOf({ a: { anyOf: [{ type: 'number' }, date, { type: 'array', items: date }] } }),
      { a: [noon] },
      { a: [asDate] },
    ],
  ])('%s', (_, schema, value, expected) => {
    expect(createMarkedConverter(schema)(structuredClone(value))).toEqual({ value: expected })
  })

  test('of the branch of a discriminated union', () => {
    const branch = (kind: string, at: JsonObject) => ({
      ...objectOf({ kind: { const: kind }, at }),
      required: ['kind'],
    })
    const convert = createMarkedConverter(
      objectOf({ event: { anyOf: [branch('text', { type: 'string' }), branch('date', date)] } }),
    )
    expect(convert({ event: { kind: 'text', at: noon } })).toEqual({ value: { event: { kind: 'text', at: noon } } })
    expect(convert({ event: { kind: 'date', at: noon } })).toEqual({ value: { event: { kind: 'date', at: asDate } } })
  })

  test('of branches that differ only in nested values', () => {
    const branch = (unit: string, at: JsonObject) => objectOf({ in: objectOf({ unit: { const: unit }, at }) })
    const convert = createMarkedConverter(
      objectOf({ a: { anyOf: [branch('text', { type: 'string' }), branch('date', date)] } }),
    )
    const value = (unit: string, at: unknown) => ({ a: { in: { unit, at } } })
    expect(convert(value('text', noon))).toEqual({ value: value('text', noon) })
    expect(convert(value('date', noon))).toEqual({ value: value('date', asDate) })
  })

  test('of a recursive type, at every level', () => {
    const node = {
      ...objectOf({ at: date, next: { anyOf: [{ $ref: '#/$defs/Entry' }, { type: 'null' }] } }),
      required: ['at', 'next'],
    }
    const convert = createMarkedConverter({ ...objectOf({ first: { $ref: '#/$defs/Entry' } }), $defs: { Entry: node } })
    let raw: unknown = null
    let converted: unknown = null
    for (let level = 0; level < 150; level++) {
      raw = { at: noon, next: raw }
      converted = { at: asDate, next: converted }
    }
    expect(convert({ first: raw })).toEqual({ value: { first: converted } })
  })
})

describe('createMarkedConverter() refuses', () => {
  const schema = objectOf({ trips: { type: 'array', items: objectOf({ start: date, 'map file': bytes }) } })

  test.each([
    ['text that is no date', 'tomorrow'],
    ['a leap second, which no Date holds', '2016-12-31T23:59:60Z'],
    ['a day that does not exist', '2026-13-01T00:00:00Z'],
  ])('%s, with its path', (_, start) => {
    expect(createMarkedConverter(schema)({ trips: [{ start: noon }, { start }] })).toEqual({
      issues: [{ path: 'trips[1].start', expected: 'a date and time, such as 2026-01-31T12:00:00Z' }],
    })
  })

  test('every wrong value of one call, with the path of each and without the values', () => {
    const result = createMarkedConverter(schema)({ trips: [{ start: 'secret' }, { 'map file': 'secret!' }] })
    expect(result.issues?.map(({ path }) => path)).toEqual(['trips[0].start', 'trips[1]["map file"]'])
    expect(JSON.stringify(result)).not.toContain('secret')
  })

  test('a value of a union when its branches take too much work to check', () => {
    const alike = (inner: JsonObject) => ({ type: 'array', items: objectOf({ a: objectOf({ b: inner }) }) })
    const union = { anyOf: [alike(date), alike({ type: 'integer' })] }
    const convert = createMarkedConverter(objectOf({ list: union }))
    // more parts than a check visits; the check of the whole value has refused it before
    const list = Array.from({ length: 150_000 }, () => ({ a: { b: noon } }))
    expect(convert({ list }).issues).toEqual([
      { path: 'list', expected: 'a value that takes less work to check against its schema' },
    ])
  })
})

test('createMarkedConverter() converts keys that are members of Object.prototype like all others', () => {
  const schema = { type: 'object', properties: { other: date }, additionalProperties: date }
  const value = JSON.parse(`{ "__proto__": "${noon}", "constructor": "${noon}", "toString": "${noon}" }`)
  const { value: converted } = createMarkedConverter(schema)(value) as { value: JsonObject }
  expect(Object.entries(converted)).toEqual([
    ['__proto__', asDate],
    ['constructor', asDate],
    ['toString', asDate],
  ])
  expect(Object.getPrototypeOf(converted)).toBe(Object.prototype)
})

test('createMarkedConverter() leaves values alone whose schema has no marks', () => {
  const value = { at: noon, list: [noon], deep: { at: noon } }
  const schema = objectOf({ at: { type: 'string', format: 'date-time' }, list: { type: 'array' }, deep: {} })
  expect(createMarkedConverter(schema)(structuredClone(value))).toEqual({ value })
})

test('withoutTypeMarks() removes the marks at every level and keeps properties of that name', () => {
  const property = { 'x-toolwright-type': { type: 'string' } }
  const schema = { ...objectOf({ ...property, a: { anyOf: [date] } }), $defs: { D: { type: 'array', items: bytes } } }
  expect(hasTypeMarks(schema)).toBe(true)
  const plain = withoutTypeMarks(schema)
  expect(plain).toEqual({
    ...objectOf({ ...property, a: { anyOf: [{ type: 'string', format: 'date-time' }] } }),
    $defs: { D: { type: 'array', items: { type: 'string', contentEncoding: 'base64' } } },
  })
  expect(hasTypeMarks(plain)).toBe(false)
  expect(hasTypeMarks(schema)).toBe(true)
})
