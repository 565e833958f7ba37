import { EventEmitter, once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createInterrupts } from './interrupts.ts'
import { typedLines } from './typed-lines.ts'

function setUp() {
  const signals = new EventEmitter()
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  let shown = ''
  output.on('data', (chunk) => (shown += chunk))
  const interrupts = createInterrupts(signals, { leave: () => {} })
  const typed = typedLines({ input, output, prompt: '> ' }, interrupts)
  const until = async (text: string): Promise<void> => {
    while (!shown.includes(text)) await once(output, 'data')
  }
  return { input, signals, interrupts, typed, until, shown: () => shown }
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

test('lines that come at once are several messages, and their unfinished end stays at the prompt', async () => {
  const { input, typed } = setUp()
  const first = typed.read()
  input.write('one\rtwo\rthr')
  expect(await first).toEqual(line('one'))
  expect(await typed.read()).toEqual(line('two'))
  const third = typed.read()
  input.write('ee\r')
  expect(await third).toEqual(line('three'))
})

test('a paste of several lines is one message, sent by Enter; nothing in it is a key', async () => {
  const { input, typed } = setUp()
  const first = typed.read()
  input.write('see: \x1b[200~one\r\n\ttwo\x1b[A\x03')
  input.write('\x04three\n\x1b[20')
  input.write('1~!')
  input.write('\r')
  expect(await first).toEqual(line('see: one\n    two[Athree\n!'))
})

test('Alt+Enter starts a new line of a message', async () => {
  const { input, typed } = setUp()
  const first = typed.read()
  input.write('one\x1b\rtwo\r')
  expect(await first).toEqual(line('one\ntwo'))
})

test('a character that comes in two chunks is whole', async () => {
  const { input, typed } = setUp()
  const bytes = Buffer.from('né\r')
  const first = typed.read()
  input.write(bytes.subarray(0, 2))
  input.write(bytes.subarray(2))
  expect(await first).toEqual(line('né'))
})

test('Tab completes a command', async () => {
  const { input, typed, until } = setUp()
  const first = typed.read()
  input.write('/to')
  await until('/to')
  input.write('\t')
  await until('ols')
  input.write('\r')
  expect(await first).toEqual(line('/tools'))
})

test('an answer can start with text to edit', async () => {
  const { input, typed, until } = setUp()
  const answer = typed.read('Arguments: ', '{"a":1}')
  await until('{"a":1}')
  input.write('\x7f\x7f2}\r')
  expect(await answer).toEqual(line('{"a":2}'))
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

test('what was typed during a turn is no answer to the question at its end: it waits for the next message', async () => {
  const { input, typed, until } = setUp()
  input.write('y\r')
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('no\r')
  expect(await answer).toEqual(line('no'))
  expect(await typed.read()).toEqual(line('y'))
})

test('Ctrl+C during a turn is an interrupt, and what was typed stays', async () => {
  const { input, interrupts, typed } = setUp()
  const heard = new Promise<void>((resolve) => {
    const forget = interrupts.listen(() => {
      forget()
      resolve()
    })
  })
  input.write('next\x03\r')
  await heard
  expect(await typed.read()).toEqual(line('next'))
})

test('a terminal is read key by key, and set back at the end', () => {
  const modes: boolean[] = []
  const input = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => modes.push(isRaw) })
  const interrupts = createInterrupts(new EventEmitter(), { leave: () => {} })
  const typed = typedLines({ input, output: new PassThrough(), prompt: '> ' }, interrupts)
  typed.close()
  expect(modes).toEqual([true, false])
  expect(input.listenerCount('data')).toBe(0)
})

test('Ctrl-D is the end, for questions and messages alike', async () => {
  const { input, typed, until } = setUp()
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('\x04')
  expect(await answer).toEqual({ type: 'end' })
  expect(await typed.read()).toEqual({ type: 'end' })
})

test('Ctrl+C clears the line, warns at an empty one, and then leaves', async () => {
  const { input, signals, typed, until, shown } = setUp()
  const next = typed.read()
  input.write('half a mess')
  await until('half a mess')
  input.write('\x03')
  while (shown().split('> ').length < 3) await until('\n')
  input.write('\x03')
  await until('Ctrl+C again leaves.')
  signals.emit('SIGINT')
  expect(await next).toEqual({ type: 'interrupt' })
})

test('a message after the warning is sent as usual', async () => {
  const { input, typed, until } = setUp()
  const next = typed.read()
  input.write('\x03')
  await until('Ctrl+C again leaves.')
  input.write('still here\r')
  expect(await next).toEqual(line('still here'))
})

test('Ctrl+C at a question is an interrupt at once', async () => {
  const { input, typed, until } = setUp()
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('\x03')
  expect(await answer).toEqual({ type: 'interrupt' })
})
