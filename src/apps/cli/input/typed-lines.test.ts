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
  const interrupts = createInterrupts(signals, { onUnhandled: () => {} })
  const typed = typedLines({ input, output, prompt: '> ' }, interrupts)
  const until = async (text: string): Promise<void> => {
    while (!shown.includes(text)) await once(output, 'data')
  }
  return { input, signals, interrupts, typed, until, shown: () => shown }
}

const line = (text: string) => ({ type: 'line', text })

test('typedLines shows a prompt for each message', async () => {
  const { input, typed, shown } = setUp()
  const first = typed.read()
  input.write('hello\r')
  expect(await first).toEqual(line('hello'))
  const second = typed.read()
  input.write('again\r')
  expect(await second).toEqual(line('again'))
  expect(shown().split('> ')).toHaveLength(3)
})

test('lines that arrive in one chunk are several messages, and an unfinished line stays at the prompt', async () => {
  const { input, typed } = setUp()
  const first = typed.read()
  input.write('one\rtwo\rthr')
  expect(await first).toEqual(line('one'))
  expect(await typed.read()).toEqual(line('two'))
  const third = typed.read()
  input.write('ee\r')
  expect(await third).toEqual(line('three'))
})

test('pasted lines become one message that Enter sends, and no key in them acts', async () => {
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

test('a character split over two chunks is read as one', async () => {
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

test('arrow up recalls earlier messages, never answers', async () => {
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

test('a line pasted before a request is shown is not its answer but the next message', async () => {
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

test('a line typed during a turn does not answer the request at its end but is the next message', async () => {
  const { input, typed, until } = setUp()
  input.write('y\r')
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('no\r')
  expect(await answer).toEqual(line('no'))
  expect(await typed.read()).toEqual(line('y'))
})

test('Ctrl+C during a turn is an interrupt and keeps the typed text', async () => {
  const { input, interrupts, typed } = setUp()
  const interrupted = new Promise<void>((resolve) => {
    const stopListening = interrupts.listen(() => {
      stopListening()
      resolve()
    })
  })
  input.write('next\x03\r')
  await interrupted
  expect(await typed.read()).toEqual(line('next'))
})

test('the terminal is in raw mode until typedLines is closed', () => {
  const modes: boolean[] = []
  const input = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => modes.push(isRaw) })
  const interrupts = createInterrupts(new EventEmitter(), { onUnhandled: () => {} })
  const typed = typedLines({ input, output: new PassThrough(), prompt: '> ' }, interrupts)
  typed.close()
  expect(modes).toEqual([true, false])
  expect(input.listenerCount('data')).toBe(0)
})

test('Ctrl+D ends the input at a request and at the message prompt', async () => {
  const { input, typed, until } = setUp()
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('\x04')
  expect(await answer).toEqual({ type: 'end' })
  expect(await typed.read()).toEqual({ type: 'end' })
})

test('Ctrl+C clears the line, warns at an empty line, then interrupts', async () => {
  const { input, signals, typed, until, shown } = setUp()
  const next = typed.read()
  input.write('half a mess')
  await until('half a mess')
  input.write('\x03')
  while (shown().split('> ').length < 3) await until('\n')
  input.write('\x03')
  await until('Press Ctrl+C again to exit.')
  signals.emit('SIGINT')
  expect(await next).toEqual({ type: 'interrupt' })
})

test('a message typed after the Ctrl+C warning is sent', async () => {
  const { input, typed, until } = setUp()
  const next = typed.read()
  input.write('\x03')
  await until('Press Ctrl+C again to exit.')
  input.write('still here\r')
  expect(await next).toEqual(line('still here'))
})

test('Ctrl+C at a request interrupts without a warning', async () => {
  const { input, typed, until } = setUp()
  const answer = typed.read('really? ')
  await until('really? ')
  input.write('\x03')
  expect(await answer).toEqual({ type: 'interrupt' })
})

test('typedLines removes the prompt of an aborted read, and the next prompt works', async () => {
  const { input, typed, until } = setUp()
  const controller = new AbortController()
  const first = typed.read('Callback URL: ', undefined, controller.signal)
  await until('Callback URL: ')
  input.write('unfinished')
  await until('unfinished')
  controller.abort()
  expect(await first).toEqual({ type: 'aborted' })
  expect(await typed.read('Callback URL: ', undefined, controller.signal)).toEqual({ type: 'aborted' })
  const second = typed.read()
  input.write('hello\r')
  expect(await second).toEqual(line('hello'))
})
