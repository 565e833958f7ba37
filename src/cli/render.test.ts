import { describe, expect, test } from 'vitest'
import type { Part } from '../content/content.ts'
import type { Event } from '../event/event.ts'
import { Renderer, type RenderOptions } from './render.ts'

type Given = Partial<Event> & { readonly parts?: readonly Part[] }

function event({ parts, ...given }: Given): Event {
  const role = parts?.some((part) => part.functionResponse) ? 'tool' : 'model'
  return {
    id: 'x',
    invocationId: 'e-1',
    author: 'root',
    timestamp: 100,
    nodeInfo: { path: 'root' },
    actions: {},
    ...(parts && { content: { role, parts } }),
    ...given,
  }
}

const says = (text: string, given: Given = {}): Event => event({ parts: [{ text }], ...given })
const delta = (text: string, given: Given = {}): Event => says(text, { partial: true, ...given })
const calls = (name: string, args: Record<string, unknown>, given: Given = {}): Event =>
  event({ parts: [{ functionCall: { id: 'c1', name, args } }], ...given })
const answers = (name: string, response: Record<string, unknown>, given: Given = {}): Event =>
  event({ parts: [{ functionResponse: { id: 'c1', name, response } }], timestamp: 100.24, ...given })

function render(events: readonly Event[], options: Partial<RenderOptions> = {}): string {
  const renderer = new Renderer({ rootName: 'root', width: 80, colour: false, ...options })
  return events.map((one) => renderer.event(one)).join('') + renderer.end()
}

describe('text', () => {
  test('is written as it comes, and not again when it is whole', () => {
    const renderer = new Renderer({ rootName: 'root', width: 80, colour: false })
    expect(renderer.event(delta('It is '))).toBe('It is ')
    expect(renderer.event(delta('cold.'))).toBe('cold.')
    expect(renderer.event(says('It is cold.'))).toBe('\n')
    expect(renderer.end()).toBe('')
  })
  test('that was not streamed is written when it is whole', () => {
    expect(render([says('It is cold.')])).toBe('It is cold.\n')
  })
  test('of which only a part was streamed is completed', () => {
    expect(render([delta('It is '), says('It is cold.')])).toBe('It is cold.\n')
  })
  test('that turns out different from what was streamed is written anew', () => {
    expect(render([delta('It is hot'), says('It is cold.')])).toBe('It is hot\nIt is cold.\n')
  })
  test('that ends with a newline gets no second one', () => {
    expect(render([delta('a\n'), says('a\n')])).toBe('a\n')
  })
  test('of a run that breaks off ends its line', () => {
    expect(render([delta('It is')])).toBe('It is\n')
  })
  test('of others than the root comes with their name', () => {
    expect(render([delta('He', { author: 'helper' }), says('Hello', { author: 'helper' })])).toBe('helper: Hello\n')
  })
  test('that is a thought, and what the user said, is not written', () => {
    expect(render([event({ parts: [{ text: 'hm', thought: true }] }), says('hello', { author: 'user' })])).toBe('')
  })
  test('streamed side by side does not mix', () => {
    const a: Given = { author: 'a', nodeInfo: { path: 'root/a@1' } }
    const b: Given = { author: 'b', nodeInfo: { path: 'root/b@1' } }
    const out = render([delta('one ', a), delta('three ', b), delta('two', a), says('one two', a), delta('four', b)])
    expect(out).toBe('a: one two\nb: three four\n')
  })
  test('that is interrupted by another agent goes on under its name', () => {
    const a: Given = { author: 'a', nodeInfo: { path: 'root/a@1' } }
    const b: Given = { author: 'b', nodeInfo: { path: 'root/b@1' } }
    const out = render([delta('one ', a), says('three', b), delta('two', a), says('one two', a)])
    expect(out).toBe('a: one \nb: three\na: two\n')
  })
  test('is not broken by an event of another agent that shows nothing', () => {
    const other = event({ nodeInfo: { path: 'root/b@1' }, actions: { endOfAgent: true } })
    expect(render([delta('one '), other, delta('two'), says('one two')])).toBe('one two\n')
  })
})

describe('tools', () => {
  test('a call and its result are shown with the time it took', () => {
    const out = render([calls('get_weather', { city: 'Oslo' }), answers('get_weather', { temperature: 22 })])
    expect(out).toBe('  -> get_weather {"city":"Oslo"}\n  <- get_weather {"temperature":22} 0.2s\n')
  })
  test('a call after text starts a line', () => {
    expect(render([delta('Let me see.'), calls('look', {}, {})])).toBe('Let me see.\n  -> look {}\n')
  })
  test('long values lose their middle and the line fits', () => {
    const out = render([calls('f', { a: 'x'.repeat(200) }), answers('f', { b: 'y'.repeat(200) })], { width: 40 })
    const lines = out.trimEnd().split('\n')
    expect(lines.map((line) => line.length)).toEqual([40, 40])
    expect(lines[0]).toMatch(/^ {2}-> f \{"a":"x+…x+"\}$/)
    expect(lines[1]).toMatch(/…y+"\} 0\.2s$/)
  })
  test('progress is shown while it runs', () => {
    const progress = answers('f', { progress: { done: 1, of: 3 } }, { partial: true })
    expect(render([progress])).toBe('  .. f {"done":1,"of":3}\n')
  })
  test('what happens in an agent used as a tool is indented, one step for each', () => {
    const inside: Given = { author: 'helper', isolationScope: 'root/helper@c1' }
    const deeper: Given = { author: 'third', isolationScope: 'root/helper@c1/third@c2' }
    const out = render([
      calls('helper', {}),
      event({ ...inside, content: { role: 'user', parts: [{ text: 'the request' }] } }),
      calls('third', {}, inside),
      says('deep\n\ndown', deeper),
      says('near', inside),
    ])
    expect(out).toBe('  -> helper {}\n      -> third {}\n        third: deep\n\n        down\n    helper: near\n')
  })
  test('a result that is the answer itself is shown whole', () => {
    const out = render([answers('helper', { text: 'z'.repeat(100) }, { actions: { skipSummarization: true } })])
    expect(out).toContain(`\n${'z'.repeat(100)}\n`)
  })
  test('media is named, not written', () => {
    const out = render([event({ parts: [{ inlineData: { mimeType: 'image/png', data: 'A'.repeat(4000) } }] })])
    expect(out).toBe('  [image/png, 3 kB]\n')
  })
})

test('an error is one line with its code', () => {
  const failed = event({ errorCode: 'MODEL_ERROR', errorMessage: 'no\nnetwork' })
  expect(render([delta('It is'), failed])).toBe('It is\n! MODEL_ERROR: no\\nnetwork\n')
  expect(render([event({ errorCode: 'CANCELLED' })])).toBe('! CANCELLED\n')
})

test('what is asked of a human is left to whoever asks it', () => {
  const args = { toolConfirmation: { hint: 'Refund 5?' } }
  expect(render([calls('adk_request_confirmation', args, { longRunningToolIds: ['c1'] })])).toBe('')
})

describe('nothing a model or a tool says reaches the terminal as a command', () => {
  const evil = '\x1b]0;owned\x07\x1b[2J\r\x9b2J\u202e'
  test.each([
    ['streamed text', [delta(evil), delta('\x1b'), delta('[2J')]],
    ['whole text', [says(evil)]],
    ['a name', [says('hi', { author: evil })]],
    ['a call', [calls(evil, { [evil]: evil })]],
    ['a result', [answers(evil, { [evil]: evil })]],
    ['progress', [answers(evil, { progress: evil }, { partial: true })]],
    ['an error', [event({ errorCode: evil, errorMessage: evil })]],
    ['media', [event({ parts: [{ inlineData: { mimeType: evil, data: '' } }, { fileData: { fileUri: evil } }] })]],
    ['code', [event({ parts: [{ executableCode: { language: evil, code: evil } }] })]],
  ])('%s', (_, events) => {
    const out = render(events)
    expect(out).not.toBe('')
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
  })
})

test('colours are there only when asked for', () => {
  expect(render([calls('f', {})], { colour: true })).toContain('\x1b[2m')
  expect(render([calls('f', {})])).not.toContain('\x1b')
})
