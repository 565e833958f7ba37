import { EventEmitter, once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { interruptsOf } from './interrupts.ts'
import { typedLines } from './typed-lines.ts'

function setUp() {
  const signals = new EventEmitter()
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  let shown = ''
  output.on('data', (chunk) => (shown += chunk))
  const typed = typedLines({ input, output, prompt: '> ' }, interruptsOf(signals, { leave: () => {} }))
  const until = async (text: string): Promise<void> => {
    while (!shown.includes(text)) await once(output, 'data')
  }
  return { input, signals, typed, until, shown: () => shown }
}

const line = (text: string) => ({ type: 'line', text })

test('a prompt asks for each line', async () => {
  const { input, typed, shown } = setUp()
  const first = typed.read()
  input.write('hello\r')
  expect(await first).toEqual(line('hello'))
  const second = typed.read()
  input.write('again\r')
  expect(await second).toEqual(line('again'))
  expect(shown().split('> ')).toHaveLength(3)
})

test('a paste of several lines is several messages, and its unfinished end stays at the prompt', async () => {
  const { input, typed } = setUp()
  const first = typed.read()
  input.write('one\rtwo\rthr')
  expect(await first).toEqual(line('one'))
  expect(await typed.read()).toEqual(line('two'))
  const third = typed.read()
  input.write('ee\r')
  expect(await third).toEqual(line('three'))
})

test('the arrow up brings an earlier message back, and no answer', async () => {
  const { input, typed, until } = setUp()
  const first = typed.read()
  input.write('hello\r')
  await first
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('secret\r')
  expect(await answer).toEqual(line('secret'))
  const second = typed.read()
  input.write('\x1b[A\r')
  expect(await second).toEqual(line('hello'))
})

test('a pasted line is no answer to a question that was not shown yet: it waits for its turn as a message', async () => {
  const { input, typed, until } = setUp()
  const first = typed.read()
  input.write('refund it\ry\r')
  expect(await first).toEqual(line('refund it'))
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('n\r')
  expect(await answer).toEqual(line('n'))
  expect(await typed.read()).toEqual(line('y'))
})

test('what was typed during a turn is no answer to the question at its end', async () => {
  const { input, typed, until } = setUp()
  input.write('y\r')
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('no\r')
  expect(await answer).toEqual(line('no'))
})

test('Ctrl-D is the end, for questions and messages alike', async () => {
  const { input, typed, until } = setUp()
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('\x04')
  expect(await answer).toEqual({ type: 'end' })
  expect(await typed.read()).toEqual({ type: 'end' })
})

test('Ctrl-C at the prompt is heard, and the next line is asked for as usual', async () => {
  const { input, typed } = setUp()
  const next = typed.read()
  input.write('\x03')
  expect(await next).toEqual({ type: 'interrupt' })
  const more = typed.read()
  input.write('still here\r')
  expect(await more).toEqual(line('still here'))
})

test('a signal at the prompt is heard too', async () => {
  const { signals, typed } = setUp()
  const next = typed.read()
  signals.emit('SIGINT')
  expect(await next).toEqual({ type: 'interrupt' })
})
