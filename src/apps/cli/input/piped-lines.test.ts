import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createInterrupts } from './interrupts.ts'
import { pipedLines } from './piped-lines.ts'

function setUp() {
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const piped = pipedLines({ input, output }, createInterrupts(new EventEmitter(), { onUnhandled: () => {} }))
  return { input, piped }
}

const line = (text: string): object => ({ type: 'line', text })
const early = (text: string): object => ({ type: 'line', text, isEarly: true })

test('marks lines that were written before a request is shown, also half a line', async () => {
  const { input, piped } = setUp()
  input.write('one\nyes\nye')
  expect(await piped.read()).toEqual(line('one'))
  await piped.showing?.()
  input.write('s\nno\n')
  expect(await piped.read('? ')).toEqual(early('yes'))
  expect(await piped.read('? ')).toEqual(early('yes'))
  expect(await piped.read('? ')).toEqual(line('no'))
})

test('a line written after the request is shown is not early, before the next request it is', async () => {
  const { input, piped } = setUp()
  await piped.showing?.()
  input.write('yes\nyes\n')
  expect(await piped.read('? ')).toEqual(line('yes'))
  await piped.showing?.()
  expect(await piped.read('? ')).toEqual(early('yes'))
})

test('a program that writes without end answers no request, and sends no further message', async () => {
  const { input, piped } = setUp()
  for (let at = 0; at < 20_000; at++) input.write('yes\n')
  await piped.showing?.()
  expect(await piped.read('? ')).toEqual({ type: 'end' })
  expect(await piped.read()).toEqual({ type: 'end' })
})

test('reads a text that is longer than the buffer, with every line once', async () => {
  const { input, piped } = setUp()
  const texts = Array.from({ length: 5_000 }, (_, at) => `line ${at} \u20ac`)
  const bytes = Buffer.from(`${texts.join('\r\n')}\r\n`)
  for (let at = 0; at < bytes.length; at += 1_000) input.write(bytes.subarray(at, at + 1_000))
  input.end()
  const read: string[] = []
  for (let result = await piped.read(); result.type === 'line'; result = await piped.read()) read.push(result.text)
  expect(read).toEqual(texts)
})
