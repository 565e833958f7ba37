import { expect, test } from 'vitest'
import { encodeFrame } from './encode-frame.ts'

/** Line ends of server-sent events, and those that clients in Python and JavaScript use. */
const LINE_ENDS = ['\n', '\r', '\v', '\f', '\x1c', '\x1d', '\x1e', '\x85', '\u2028', '\u2029']
const PIECES = [
  ...LINE_ENDS,
  '\r\n\r\n',
  '\0',
  '\ud800',
  '\udc00',
  'data: x\n\n',
  'id: 7',
  '"',
  '\\',
  '\\n',
  'a',
  'é',
  '🙂',
]
const RUNS = 20_000

test('no character of a value breaks the frame', () => {
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
    return seed % below
  }
  const text = (): string => Array.from({ length: random(6) }, () => PIECES[random(PIECES.length)]).join('')
  const broken: object[] = []
  for (let run = 0; run < RUNS; run++) {
    const value = { [text()]: text(), list: [text()] }
    const sent = new TextDecoder().decode(encodeFrame(value))
    const line = sent.slice('data: '.length, -2)
    const isFramed = sent === `data: ${line}\n\n` && !LINE_ENDS.some((end) => line.includes(end))
    // a lone surrogate has no UTF-8 form; it arrives as its JSON escape
    if (!isFramed || JSON.stringify(JSON.parse(line)) !== JSON.stringify(value)) broken.push(value)
  }
  expect(broken).toEqual([])
})
