import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createInterrupts } from './interrupts.ts'
import { fixedLines, type LineSource, pipedLines } from './line-source.ts'

function setUp() {
  const signals = new EventEmitter()
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const piped = pipedLines({ input, output }, createInterrupts(signals, { leave: () => {} }))
  return { input, output, signals, piped }
}

async function all(lines: LineSource): Promise<string[]> {
  const found: string[] = []
  for (;;) {
    const heard = await lines.read()
    if (heard.type !== 'line') return found
    found.push(heard.text)
  }
}

test('known lines come in order and end', async () => {
  expect(await all(fixedLines(['one', 'two']))).toEqual(['one', 'two'])
})

test('piped lines come one by one, however they were cut into chunks', async () => {
  const { input, piped } = setUp()
  input.write('one\r\ntw')
  input.end('o\n\nthree')
  expect(await all(piped)).toEqual(['one', 'two', '', 'three'])
  expect(await piped.read()).toEqual({ type: 'end' })
})

test('piped lines that came during a slow turn are not lost', async () => {
  const { input, piped } = setUp()
  input.write('one\ntwo\n')
  expect(await piped.read()).toEqual({ type: 'line', text: 'one' })
  await new Promise((resolve) => input.end('three\n', () => setImmediate(resolve)))
  expect(await all(piped)).toEqual(['two', 'three'])
})

test('Ctrl-C while waiting is heard, and no line is lost by it', async () => {
  const { input, signals, piped } = setUp()
  const next = piped.read()
  signals.emit('SIGINT')
  expect(await next).toEqual({ type: 'interrupt' })
  input.end('one\n')
  expect(await all(piped)).toEqual(['one'])
})

test('a question is shown with its answer, which nobody saw being typed', async () => {
  const { input, output, piped } = setUp()
  input.end('y\x1b[2J\n')
  expect(await piped.read('[y/N] ')).toEqual({ type: 'line', text: 'y\x1b[2J' })
  expect(await piped.read('[y/N] ')).toEqual({ type: 'end' })
  expect(output.read()).toBe('[y/N] y\\x1b[2J\n[y/N] \n')
})

test('a message that says exit is the end; an answer that does is an answer', async () => {
  const { input, piped } = setUp()
  input.end('one\nexit\n exit \ntwo\n')
  expect(await piped.read()).toEqual({ type: 'line', text: 'one' })
  expect(await piped.read('? ')).toEqual({ type: 'line', text: 'exit' })
  expect(await all(piped)).toEqual([])
})
