import { expect, test } from 'vitest'
import { Output } from './printed-output.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('stdout, then stderr after its line, then our notes', () => {
  const output = new Output(1000)
  output.err(bytes('oh\n'))
  output.out(bytes('one\n'))
  output.out(bytes('two\n'))
  output.note('exit code 1')
  expect(output.toString()).toBe('one\ntwo\n--- stderr ---\noh\n[exit code 1]')
})

test('nothing printed is nothing', () => {
  expect(new Output(1000).toString()).toBe('')
})

test('of too much stdout the beginning is kept, of too much stderr the end', () => {
  const output = new Output(40)
  for (const digit of '0123456789') output.out(bytes(digit.repeat(10)))
  for (const digit of '0123456789') output.err(bytes(digit.repeat(10)))
  expect(output.toString().split('\n')).toEqual([
    '000000000011111111112222222222',
    '[cut: 70 more bytes were printed]',
    '--- stderr ---',
    '[cut: 90 bytes came before this]',
    '9999999999',
  ])
})

test('one long chunk without a newline is cut like many short ones', () => {
  const output = new Output(40)
  output.out(bytes('x'.repeat(1000)))
  output.err(bytes('y'.repeat(1000)))
  expect(output.toString()).toContain(`${'x'.repeat(30)}\n[cut: 970 more`)
  expect(output.toString()).toContain(`[cut: 990 bytes came before this]\n${'y'.repeat(10)}`)
})

test('a character that is cut in two is left out', () => {
  const output = new Output(40)
  output.out(bytes(`${'x'.repeat(29)}€`))
  output.err(bytes(`€${'y'.repeat(8)}`))
  expect(output.toString()).not.toContain('\ufffd')
})

test('bytes that are no text do no harm', () => {
  const output = new Output(40)
  output.out(new Uint8Array([0xff, 0xfe, 0x41]))
  expect(output.toString()).toContain('A')
})

test('a flood is told from much', () => {
  const output = new Output(1000)
  for (let i = 0; i < 100; i++) output.out(new Uint8Array(1000))
  expect(output.isFlood).toBe(false)
  output.err(new Uint8Array(1))
  expect(output.isFlood).toBe(true)
})
