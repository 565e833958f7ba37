import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeBase64 } from './base64.ts'
import { copyJson, MAX_DEPTH } from './json.ts'
import { MAX_CONTENT_BYTES } from './limits.ts'
import { toJsonValue } from './to-json-value.ts'

test('JSON stays what it is, and is a copy', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(toJsonValue(value).value).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('anything at all becomes JSON that survives being written and read', () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
      (value) => {
        const { value: plain } = toJsonValue(value)
        const read = JSON.parse(JSON.stringify(plain))
        expect(toJsonValue(read).value).toEqual(read)
      },
    ),
  )
})

test('what was made plain can be stored: there is room for what it is put into', () => {
  let deep: unknown = {}
  for (let i = 0; i < 5_000; i++) deep = { deep }
  let stored = toJsonValue(deep).value
  for (let i = 0; i < 20; i++) stored = { stored }
  expect(copyJson(stored)).toEqual(stored)
  expect(JSON.stringify(stored)).toContain('[too deep]')
  expect(MAX_DEPTH).toBeGreaterThan(100)
})

test('bytes are counted closely enough for plain text', () => {
  const value = { list: Array.from({ length: 100 }, (_, id) => ({ id, name: `row ${id}` })) }
  const { bytes } = toJsonValue(value)
  const { length } = JSON.stringify(value)
  expect(bytes).toBeGreaterThan(length * 0.8)
  expect(bytes).toBeLessThan(length * 1.5)
})

test('a text over the hard limit loses its middle and says so', () => {
  const text = `a${'x'.repeat(MAX_CONTENT_BYTES)}z`
  const { value, bytes } = toJsonValue(text)
  expect(String(value).length).toBeLessThan(MAX_CONTENT_BYTES + 100)
  expect(value).toMatch(/^ax/)
  expect(String(value).slice(-2)).toBe('xz')
  expect(bytes).toBeGreaterThan(MAX_CONTENT_BYTES)
})

test('a small thing shared in countless places is not read countless times', () => {
  let reads = 0
  let value: unknown = {
    get id() {
      return ++reads
    },
  }
  for (let i = 0; i < 60; i++) value = [value, value]
  toJsonValue(value)
  expect(reads).toBeLessThan(1_000_000)
})

test('bytes become base64', () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i % 256)
  expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
  expect(toJsonValue(new Uint16Array([1]).buffer).value).toBe('AQA=')
  expect(toJsonValue(bytes.subarray(1, 3)).value).toBe('AQI=')
})

test('other things have their usual form', () => {
  const form = (value: unknown): unknown => toJsonValue(value).value
  expect(form(new URL('https://a.b/'))).toBe('https://a.b/')
  expect(form(/a+/g)).toBe('/a+/g')
  expect(form(new Date(Number.NaN))).toBeNull()
  expect(form([undefined, () => 1, Symbol('x')])).toEqual([null, null, null])
  expect(form({ a: undefined, toJSON: () => ({ b: 1n }) })).toEqual({ b: '1' })
  expect(form(Symbol('x'))).toBeNull()
})

test('of a long text, or of many bytes, both ends are kept and all of it is counted', () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => i % 251)
  const whole = Buffer.from(bytes).toString('base64')
  for (const [value, text] of [[bytes, whole] as const, [whole, whole] as const]) {
    const kept = toJsonValue({ value }, 100)
    const [head = '', leftOut, tail = ''] = String(Object(kept.value).value).split(
      /\[\.\.\. (\d+) characters left out \.\.\.\]/,
    )
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
    expect(head.length + tail.length + Number(leftOut)).toBe(text.length)
    expect(head.length + tail.length).toBeLessThanOrEqual(104)
    expect(kept.bytes).toBeGreaterThan(text.length)
    expect(Object(toJsonValue({ value }, 400).value).value).toBe(text)
  }
})
