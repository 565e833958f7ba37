import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { interruptsOf } from './interrupts.ts'
import { pipedLines, typedLines, untilExit } from './lines.ts'

function setUp() {
  const signals = new EventEmitter()
  const interrupts = interruptsOf(signals, { leave: () => {} })
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const typed = typedLines({ input, output, prompt: '> ' }, interrupts)
  return { input, output, signals, typed, piped: pipedLines(input, interrupts) }
}

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = []
  for await (const line of lines) found.push(line)
  return found
}

test('piped lines come one by one, however they were cut into chunks', async () => {
  const { input, piped } = setUp()
  input.write('one\r\ntw')
  input.end('o\n\nthree')
  expect(await all(piped)).toEqual(['one', 'two', '', 'three'])
})

test('piped lines that came during a slow turn are not lost', async () => {
  const { input, piped } = setUp()
  input.write('one\ntwo\n')
  expect((await piped.next()).value).toBe('one')
  await new Promise((resolve) => input.end('three\n', () => setImmediate(resolve)))
  expect(await all(piped)).toEqual(['two', 'three'])
})

test('Ctrl-C while waiting ends piped lines', async () => {
  const { signals, piped } = setUp()
  const next = piped.next()
  signals.emit('SIGINT')
  expect((await next).done).toBe(true)
})

test('a line that says exit is the end', async () => {
  const { input, piped } = setUp()
  input.end('one\n exit \ntwo\n')
  expect(await all(untilExit(piped))).toEqual(['one'])
})

test('a prompt asks for each line', async () => {
  const { input, output, typed } = setUp()
  const first = typed.next()
  input.write('hello\r')
  expect((await first).value).toBe('hello')
  const second = typed.next()
  input.write('again\r')
  expect((await second).value).toBe('again')
  expect(String(output.read()).split('> ')).toHaveLength(3)
})

test('a paste of several lines is several messages, and its unfinished end stays at the prompt', async () => {
  const { input, typed } = setUp()
  const first = typed.next()
  input.write('one\rtwo\rthr')
  expect((await first).value).toBe('one')
  expect((await typed.next()).value).toBe('two')
  const third = typed.next()
  input.write('ee\r')
  expect((await third).value).toBe('three')
})

test('the arrow up brings an earlier line back', async () => {
  const { input, typed } = setUp()
  const first = typed.next()
  input.write('hello\r')
  await first
  const second = typed.next()
  input.write('\x1b[A\r')
  expect((await second).value).toBe('hello')
})

test.each([
  ['Ctrl-D', '\x04'],
  ['Ctrl-C', '\x03'],
])('%s at the prompt leaves', async (_, key) => {
  const { input, typed } = setUp()
  const next = typed.next()
  input.write(key)
  expect((await next).done).toBe(true)
})

test('a signal at the prompt leaves too', async () => {
  const { signals, typed } = setUp()
  const next = typed.next()
  signals.emit('SIGINT')
  expect((await next).done).toBe(true)
})
