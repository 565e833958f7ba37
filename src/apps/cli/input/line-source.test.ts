import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createInterrupts } from './interrupts.ts'
import { fixedLines, type LineSource } from './line-source.ts'
import { pipedLines } from './piped-lines.ts'

function setUp() {
  const signals = new EventEmitter()
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const piped = pipedLines({ input, output }, createInterrupts(signals, { onUnhandled: () => {} }))
  return { input, output, signals, piped }
}

async function readAll(lines: LineSource): Promise<string[]> {
  const texts: string[] = []
  for (;;) {
    const result = await lines.read()
    if (result.type !== 'line') return texts
    texts.push(result.text)
  }
}

test('fixedLines returns its lines in order, then the end', async () => {
  expect(await readAll(fixedLines(['one', 'two']))).toEqual(['one', 'two'])
})

test('pipedLines returns whole lines, whatever the chunks of the stream', async () => {
  const { input, piped } = setUp()
  input.write('one\r\ntw')
  input.end('o\n\nthree')
  expect(await readAll(piped)).toEqual(['one', 'two', '', 'three'])
  expect(await piped.read()).toEqual({ type: 'end' })
})

test('pipedLines keeps lines that arrive between two reads', async () => {
  const { input, piped } = setUp()
  input.write('one\ntwo\n')
  expect(await piped.read()).toEqual({ type: 'line', text: 'one' })
  await new Promise((resolve) => input.end('three\n', () => setImmediate(resolve)))
  expect(await readAll(piped)).toEqual(['two', 'three'])
})

test('pipedLines returns an interrupt for Ctrl+C and loses no line', async () => {
  const { input, signals, piped } = setUp()
  const next = piped.read()
  signals.emit('SIGINT')
  expect(await next).toEqual({ type: 'interrupt' })
  input.end('one\n')
  expect(await readAll(piped)).toEqual(['one'])
})

test('pipedLines ends an aborted read and loses no line', async () => {
  const { input, piped } = setUp()
  const controller = new AbortController()
  const next = piped.read('? ', undefined, controller.signal)
  controller.abort()
  expect(await next).toEqual({ type: 'aborted' })
  expect(await piped.read('? ', undefined, controller.signal)).toEqual({ type: 'aborted' })
  input.end('one\n')
  expect(await readAll(piped)).toEqual(['one'])
})

test('pipedLines prints a prompt with its answer, escaped', async () => {
  const { input, output, piped } = setUp()
  input.end('y\x1b[2J\n')
  expect(await piped.read('[y/N] ')).toEqual({ type: 'line', text: 'y\x1b[2J' })
  expect(await piped.read('[y/N] ')).toEqual({ type: 'end' })
  expect(output.read()).toBe('[y/N] y\\x1b[2J\n[y/N] \n')
})

test('pipedLines ends at the message exit, but accepts exit as an answer', async () => {
  const { input, piped } = setUp()
  input.end('one\nexit\n exit \ntwo\n')
  expect(await piped.read()).toEqual({ type: 'line', text: 'one' })
  expect(await piped.read('? ')).toEqual({ type: 'line', text: 'exit' })
  expect(await readAll(piped)).toEqual([])
})
