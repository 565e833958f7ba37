import { expect, test } from 'vitest'
import { PrintedOutput } from './printed-output.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('PrintedOutput contains stdout, then stderr after a separator line, then notes', () => {
  const output = new PrintedOutput(1000)
  output.addStderr(bytes('oh\n'))
  output.addStdout(bytes('one\n'))
  output.addStdout(bytes('two\n'))
  output.addNote('exit code 1')
  expect(output.toString()).toBe('one\ntwo\n--- stderr ---\noh\n[exit code 1]')
})

test('PrintedOutput is an empty string for a run that printed nothing', () => {
  expect(new PrintedOutput(1000).toString()).toBe('')
})

test('PrintedOutput keeps the beginning of long stdout and the end of long stderr', () => {
  const output = new PrintedOutput(40)
  for (const digit of '0123456789') output.addStdout(bytes(digit.repeat(10)))
  for (const digit of '0123456789') output.addStderr(bytes(digit.repeat(10)))
  expect(output.toString().split('\n')).toEqual([
    '000000000011111111112222222222',
    '[cut: 70 more bytes were printed]',
    '--- stderr ---',
    '[cut: 90 bytes were printed before this]',
    '9999999999',
  ])
})

test('PrintedOutput cuts one long chunk without a newline', () => {
  const output = new PrintedOutput(40)
  output.addStdout(bytes('x'.repeat(1000)))
  output.addStderr(bytes('y'.repeat(1000)))
  expect(output.toString()).toContain(`${'x'.repeat(30)}\n[cut: 970 more`)
  expect(output.toString()).toContain(`[cut: 990 bytes were printed before this]\n${'y'.repeat(10)}`)
})

test('PrintedOutput drops a character that is cut in two', () => {
  const output = new PrintedOutput(40)
  output.addStdout(bytes(`${'x'.repeat(29)}€`))
  output.addStderr(bytes(`€${'y'.repeat(8)}`))
  expect(output.toString()).not.toContain('\ufffd')
})

test('PrintedOutput accepts output that is not valid UTF-8', () => {
  const output = new PrintedOutput(40)
  output.addStdout(new Uint8Array([0xff, 0xfe, 0x41]))
  expect(output.toString()).toContain('A')
})

test('PrintedOutput reports flooding only above a hundred times the limit', () => {
  const output = new PrintedOutput(1000)
  for (let i = 0; i < 100; i++) output.addStdout(new Uint8Array(1000))
  expect(output.isFlooding).toBe(false)
  output.addStderr(new Uint8Array(1))
  expect(output.isFlooding).toBe(true)
})
