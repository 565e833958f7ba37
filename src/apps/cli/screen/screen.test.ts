import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Screen } from './screen.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function setUp({ isTTY = true, columns = 40, env = {} as { [name: string]: string } } = {}) {
  const output = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY, columns })
  const errors = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY })
  const screen = new Screen({ output, errors, env })
  return { output, errors, screen, read: (): string => output.read() ?? '' }
}

const ERASE = '\r\x1b[K'

test('the status animates and counts seconds on one line, and is erased at its end', () => {
  const { screen, read } = setUp({ env: { NO_COLOR: '1' } })
  screen.status('Thinking')
  expect(read()).toBe('\r⠋ Thinking\x1b[K')
  vi.advanceTimersByTime(100)
  expect(read()).toBe('\r⠙ Thinking\x1b[K')
  vi.advanceTimersByTime(2_000)
  expect(read()).toContain('Thinking 2s\x1b[K')
  screen.status(undefined)
  expect(read()).toBe(ERASE)
  vi.advanceTimersByTime(10_000)
  expect(read()).toBe('')
})

test('text replaces the status, which is redrawn below it', () => {
  const { screen, read } = setUp({ env: { NO_COLOR: '1' } })
  screen.status('Thinking')
  read()
  screen.write('Hello.\n')
  expect(read()).toBe(`${ERASE}Hello.\n`)
  vi.advanceTimersByTime(100)
  expect(read()).toContain('Thinking')
  screen.status(undefined)
})

test('a long status is truncated to one row', () => {
  const { screen, read } = setUp({ columns: 20, env: { NO_COLOR: '1' } })
  screen.status(`look  text: ${'你'.repeat(100)}`)
  expect(read()).toBe('\r⠋ look  text: 你…\x1b[K')
  screen.status(undefined)
})

test('the status does not overwrite text that a tool prints', () => {
  const { screen, output, errors, read } = setUp({ env: { NO_COLOR: '1' } })
  const { write } = output
  screen.status('refund')
  read()
  output.write('[bank] 5 EUR')
  expect(read()).toBe(`${ERASE}[bank] 5 EUR`)
  vi.advanceTimersByTime(500)
  expect(read()).toBe('')
  output.write(' paid\n')
  vi.advanceTimersByTime(100)
  expect(read()).toMatch(/^ paid\n\r. refund/)
  errors.write('a warning')
  expect(read()).toBe(ERASE)
  screen.write('Done.\n')
  expect(read()).toBe('\nDone.\n')
  screen.status(undefined)
  expect(output.write).toBe(write)
})

test.each([
  ['a file', { isTTY: false }],
  ['a dumb terminal', { env: { TERM: 'dumb' } }],
])('in %s no status is drawn, only a long wait is written once', (_, options) => {
  const { screen, read } = setUp(options)
  screen.status('download  file: map.png')
  vi.advanceTimersByTime(9_000)
  expect(read()).toBe('')
  vi.advanceTimersByTime(60_000)
  expect(read()).toBe('… download  file: map.png\n')
  screen.status('Thinking')
  screen.status(undefined)
  vi.advanceTimersByTime(60_000)
  expect(read()).toBe('')
  expect(screen.paint(['red'], 'x')).toBe('x')
})

test('colours are used in a terminal without NO_COLOR', () => {
  expect(setUp().screen.paint(['red'], 'x')).toBe('\x1b[31mx\x1b[39m')
  expect(setUp({ env: { NO_COLOR: '' } }).screen.colour).toBe(true)
  expect(setUp({ env: { NO_COLOR: '1' } }).screen.colour).toBe(false)
  expect(setUp({ isTTY: false }).screen.width).toBeUndefined()
})
