import { expect, test } from 'vitest'
import { encodeBase64 } from './base64.ts'
import fc from './fast-check.test-kit.ts'
import { copyJson, MAX_DEPTH } from './json.ts'
import { MAX_CONTENT_BYTES } from './limits.ts'
import { toJsonValue } from './to-json-value.ts'

test('toJsonValue() copies JSON unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(toJsonValue(value).value).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('toJsonValue() converts any value to JSON that survives a round trip', () => {
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

test('toJsonValue() reserves levels of nesting for the event around the value', () => {
  let deep: unknown = {}
  for (let i = 0; i < 5_000; i++) deep = { deep }
  let stored = toJsonValue(deep).value
  for (let i = 0; i < 20; i++) stored = { stored }
  expect(copyJson(stored)).toEqual(stored)
  expect(JSON.stringify(stored)).toContain('[too deep]')
  expect(MAX_DEPTH).toBeGreaterThan(100)
})

test('toJsonValue() counts nearly as many bytes as the JSON text has', () => {
  const value = { list: Array.from({ length: 100 }, (_, id) => ({ id, name: `row ${id}` })) }
  const { bytes } = toJsonValue(value)
  const { length } = JSON.stringify(value)
  expect(bytes).toBeGreaterThan(length * 0.8)
  expect(bytes).toBeLessThan(length * 1.5)
})

test('toJsonValue() cuts the middle of a text over the limit and marks the cut', () => {
  const text = `a${'x'.repeat(MAX_CONTENT_BYTES)}z`
  const { value, bytes } = toJsonValue(text)
  expect(String(value).length).toBeLessThan(MAX_CONTENT_BYTES + 100)
  expect(value).toMatch(/^ax/)
  expect(String(value).slice(-2)).toBe('xz')
  expect(bytes).toBeGreaterThan(MAX_CONTENT_BYTES)
})

test('toJsonValue() stops at an object that is referenced countless times', () => {
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

test('toJsonValue() converts bytes to base64', () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i % 256)
  expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
  expect(toJsonValue(new Uint16Array([1]).buffer).value).toBe('AQA=')
  expect(toJsonValue(bytes.subarray(1, 3)).value).toBe('AQI=')
})

test('toJsonValue() converts dates, errors, maps and sets to their usual JSON', () => {
  const form = (value: unknown): unknown => toJsonValue(value).value
  expect(form(new URL('https://a.b/'))).toBe('https://a.b/')
  expect(form(/a+/g)).toBe('/a+/g')
  expect(form(new Date(Number.NaN))).toBeNull()
  expect(form([undefined, () => 1, Symbol('x')])).toEqual([null, null, null])
  expect(form({ a: undefined, toJSON: () => ({ b: 1n }) })).toEqual({ b: '1' })
  expect(form(Symbol('x'))).toBeNull()
})

test('toJsonValue() keeps both ends of a long text or byte array and counts all its bytes', () => {
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
