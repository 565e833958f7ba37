import { describe, expect, test } from 'vitest'
import type { Part } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import { EventRenderer, type EventRendererOptions } from './event-renderer.ts'

type Given = Partial<Event> & { readonly parts?: readonly Part[] }

let count = 0

function event({ parts, ...given }: Given): Event {
  const role = parts?.some((part) => part.functionResponse) ? 'tool' : 'model'
  return {
    id: `event-${++count}`,
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

function render(events: readonly Event[], options: Partial<EventRendererOptions> = {}): string {
  const renderer = new EventRenderer({ rootName: 'root', colour: false, ...options })
  return events.map((one) => renderer.render(one)).join('') + renderer.end()
}

test('failed attempts of retry() are written above the result', () => {
  const times = { startedAt: 100, endedAt: 100.1 }
  const failed = [{ attempt: 1, attempts: 3, error: 'down\u001b[2J', errorCode: 'EXECUTION_FAILED', ...times }]
  const given = { failedAttempts: { c1: failed } }
  const out = render([calls('look', {}), answers('look', { found: true }, given)])
  expect(out).toMatch(/^… Attempt 1 of 3 failed: down.*\n✓ look/)
  expect(out).not.toContain('\u001b')
})

test('a failed attempt of retry() is written once, and other progress stays', () => {
  const progress = (value: unknown): Event => answers('look', { progress: value }, { partial: true })
  const failed = [{ attempt: 1, attempts: 3, error: 'down', errorCode: 'X', startedAt: 100, endedAt: 100.1 }]
  const out = render([
    calls('look', {}),
    progress({ message: 'Attempt 1 of 3 failed. Trying again.', attempt: 1, attempts: 3 }),
    progress({ message: 'Halfway', attempt: 1 }),
    answers('look', { found: true }, { failedAttempts: { c1: failed } }),
  ])
  expect(out.match(/Attempt 1 of 3/g)).toHaveLength(1)
  expect(out).toContain('Attempt 1 of 3 failed: down\n')
  expect(out).toContain('message: Halfway')
})

describe('rendered text', () => {
  test('is written while it streams, and not again when it is complete', () => {
    const renderer = new EventRenderer({ rootName: 'root', colour: false })
    expect(renderer.render(delta('It is '))).toBe('It is ')
    expect(renderer.render(delta('cold.'))).toBe('cold.')
    expect(renderer.render(says('It is cold.'))).toBe('\n')
    expect(renderer.end()).toBe('')
  })
  test('is written when it is complete if it was not streamed', () => {
    expect(render([says('It is cold.')])).toBe('It is cold.\n')
  })
  test('is completed if only its start was streamed', () => {
    expect(render([delta('It is '), says('It is cold.')])).toBe('It is cold.\n')
  })
  test('is written again if the complete text differs from the streamed text', () => {
    expect(render([delta('It is hot'), says('It is cold.')])).toBe('It is hot\nIt is cold.\n')
  })
  test('gets no second newline', () => {
    expect(render([delta('a\n'), says('a\n')])).toBe('a\n')
  })
  test('ends its line when the run stops in the middle', () => {
    expect(render([delta('It is')])).toBe('It is\n')
  })
  test('of an agent other than the root starts with its name', () => {
    expect(render([delta('He', { author: 'helper' }), says('Hello', { author: 'helper' })])).toBe('helper: Hello\n')
  })
  test('contains neither thoughts nor user messages', () => {
    expect(render([event({ parts: [{ text: 'hm', thought: true }] }), says('hello', { author: 'user' })])).toBe('')
  })
  test('of two agents that stream in parallel does not mix', () => {
    const a: Given = { author: 'a', nodeInfo: { path: 'root/a@1' } }
    const b: Given = { author: 'b', nodeInfo: { path: 'root/b@1' } }
    const out = render([delta('one ', a), delta('three ', b), delta('two', a), says('one two', a), delta('four', b)])
    expect(out).toBe('a: one two\nb: three four\n')
  })
  test('continues with its author after the text of another agent', () => {
    const a: Given = { author: 'a', nodeInfo: { path: 'root/a@1' } }
    const b: Given = { author: 'b', nodeInfo: { path: 'root/b@1' } }
    const out = render([delta('one ', a), says('three', b), delta('two', a), says('one two', a)])
    expect(out).toBe('a: one \nb: three\na: two\n')
  })
  test('stays on one line during an event of another agent without output', () => {
    const other = event({ nodeInfo: { path: 'root/b@1' }, actions: { endOfAgent: true } })
    expect(render([delta('one '), other, delta('two'), says('one two')])).toBe('one two\n')
  })
})

describe('the event renderer', () => {
  test('shows a call with its arguments, duration and result', () => {
    const out = render([calls('get_weather', { city: 'Oslo' }), answers('get_weather', { temperature: 22 })])
    expect(out).toBe('✓ get_weather  city: Oslo  0.2s\n  temperature: 22\n')
  })
  test('shows the error of a failed call', () => {
    const out = render([calls('f', {}), answers('f', { error: 'No such city.', errorCode: 'NOT_FOUND' })])
    expect(out).toBe('✗ f  0.2s\n  No such city. (NOT_FOUND)\n')
  })
  test('wraps an error instead of truncating it', () => {
    const error = 'Tool "refund" timed out after 30000 ms. Raise timeoutMs.'
    const out = render([calls('f', {}), answers('f', { error })], { width: 40 })
    expect(out).toBe('✗ f  0.2s\n  Tool "refund" timed out after 30000\n  ms. Raise timeoutMs.\n')
  })
  test('shows the result of a call from an earlier run', () => {
    expect(render([answers('f', { done: true })])).toBe('✓ f\n  done: true\n')
  })
  test('starts a new line for a call after text', () => {
    const out = render([delta('Let me see.'), calls('look', {}), answers('look', {})])
    expect(out).toBe('Let me see.\n✓ look  0.2s\n')
  })
  test('truncates long values to one row and says how to see them in full', () => {
    const long = [calls('f', { a: 'x'.repeat(200) }), answers('f', { b: 'y'.repeat(200) })]
    const lines = render(long, { width: 60 }).trimEnd().split('\n')
    expect(lines.map((line) => line.length)).toEqual([60, 60])
    expect(lines[0]).toMatch(/^✓ f {2}a: x+… {2}0\.2s$/)
    expect(lines[1]).toMatch(/^ {2}b: y+… \(--verbose shows all\)$/)
    expect(render(long, { width: 60, verbose: true })).toContain('y'.repeat(200))
    const cut: string[] = []
    expect(render(long, { width: 60, onTruncated: (text) => cut.push(text) })).toContain('… (/more shows all)\n')
    expect(cut).toEqual([`f {\n  "a": "${'x'.repeat(200)}"\n}\n→ {\n  "b": "${'y'.repeat(200)}"\n}\n`])
  })
  test('shows progress as lines where a status cannot be redrawn', () => {
    const progress = answers('f', { progress: { done: 1, of: 3 } }, { partial: true })
    expect(render([progress])).toBe('… f  done: 1, of: 3\n')
    expect(render([progress], { isLive: true })).toBe('')
  })
  test('provides the label of the status line', () => {
    const renderer = new EventRenderer({ rootName: 'root', colour: true, width: 80, isLive: true })
    expect(renderer.status).toBe('Thinking')
    renderer.render(calls('f', { city: 'Oslo\x1b[2J' }))
    expect(renderer.status).toBe('f  city: Oslo\\x1b[2J')
    renderer.render(answers('f', { progress: '40 %' }, { partial: true }))
    expect(renderer.status).toBe('f  40 %')
    const second = { functionCall: { id: 'c2', name: 'g', args: {} } }
    renderer.render(answers('f', { done: true }))
    expect(renderer.status).toBe('Thinking')
    renderer.render(event({ parts: [{ functionCall: { id: 'c3', name: 'f', args: {} } }, second] }))
    expect(renderer.status).toBe('2 tools: f, g')
    renderer.render(delta('| a table'))
    expect(renderer.status).toBe('Writing')
    renderer.render(delta(' |\nis over '))
    expect(renderer.status).toBeUndefined()
  })
  test('separates text from tool lines and other agents by an empty line in a terminal', () => {
    const other = says('Me too.', { author: 'other' })
    const out = render([calls('f', {}), answers('f', {}), says('Done.'), other, calls('f', {}), answers('f', {})], {
      isLive: true,
    })
    expect(out).toBe('✓ f  0.2s\n\nDone.\n\nother: Me too.\n\n✓ f  0.2s\n')
  })
  test('shows an agent transfer as one line', () => {
    const actions = { transferToAgent: 'billing' }
    const out = render([
      calls('transfer_to_agent', { agent_name: 'billing' }),
      answers('transfer_to_agent', { status: 'ok' }, { actions }),
    ])
    expect(out).toBe('✓ transfer_to_agent  agent_name: billing  0.2s\n')
  })
  test('shows the events of an agent tool indented below its call', () => {
    const inside: Given = { author: 'helper', isolationScope: 'root/helper@c1' }
    const deeper: Given = { author: 'third', isolationScope: 'root/helper@c1/third@c2' }
    const inner = { functionCall: { id: 'c2', name: 'third', args: {} } }
    const out = render([
      calls('helper', { request: 'Help' }),
      event({ ...inside, content: { role: 'user', parts: [{ text: 'the request' }] } }),
      event({ parts: [inner], ...inside }),
      says('deep\n\ndown', deeper),
      says('near', inside),
      answers('helper', { text: 'near' }),
    ])
    expect(out).toBe('▸ helper  request: Help\n  ▸ third\n    deep\n\n    down\n  near\n✓ helper  0.2s\n')
  })
  test('shows a result that skips summarization in full', () => {
    const out = render([answers('helper', { text: 'z'.repeat(100) }, { actions: { skipSummarization: true } })])
    expect(out).toContain(`\n${'z'.repeat(100)}\n`)
  })
  test('shows the type and size of media', () => {
    const out = render([event({ parts: [{ inlineData: { mimeType: 'image/png', data: 'A'.repeat(4000) } }] })])
    expect(out).toBe('  [image/png, 3 kB]\n')
  })
})

test('the event renderer shows an error event as one line with its code', () => {
  const failed = event({ errorCode: 'MODEL_ERROR', errorMessage: 'no\nnetwork' })
  expect(render([delta('It is'), failed])).toBe('It is\n! MODEL_ERROR: no\\nnetwork\n')
  expect(render([event({ errorCode: 'CANCELLED' })])).toBe('! CANCELLED\n')
})

test('the event renderer shows no request calls', () => {
  const args = { toolConfirmation: { hint: 'Refund 5?' } }
  expect(render([calls('adk_request_confirmation', args, { longRunningToolIds: ['c1'] })])).toBe('')
})

const ESCAPE = '\x1b'
const OWN_STYLES = new RegExp(`${ESCAPE}\\[\\d{1,2}m`, 'g')

describe('the event renderer escapes control characters in', () => {
  const evil = '\x1b]0;owned\x07\x1b[2J\r\x9b2J\u202e'
  test.each([
    ['streamed text', [delta(evil), delta('\x1b'), delta('[2J')]],
    ['whole text', [says(evil)]],
    ['a name', [says('hi', { author: evil })]],
    ['a call', [calls(evil, { [evil]: evil }), answers(evil, { error: evil, errorCode: evil })]],
    ['an agent tool', [calls(evil, { [evil]: evil }), says(evil, { isolationScope: 'root/x@c1' })]],
    ['a result', [answers(evil, { [evil]: evil })]],
    ['progress', [answers(evil, { progress: evil }, { partial: true })]],
    ['an error', [event({ errorCode: evil, errorMessage: evil })]],
    ['media', [event({ parts: [{ inlineData: { mimeType: evil, data: '' } }, { fileData: { fileUri: evil } }] })]],
    ['code', [event({ parts: [{ executableCode: { language: evil, code: evil } }] })]],
  ])('%s', (_, events) => {
    for (const options of [{}, { colour: true, isLive: true, width: 40 }, { verbose: true }]) {
      const out = render(events, options)
      if (!options.isLive) expect(out).not.toBe('') // a live terminal shows progress in the status line only
      expect(out.replaceAll(OWN_STYLES, '').replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    }
  })
})

test('the event renderer uses colours only when the option is set', () => {
  expect(render([calls('f', {}), answers('f', {})], { colour: true })).toContain('\x1b[32m✓\x1b[39m')
  expect(render([calls('f', {}), answers('f', {})])).not.toContain('\x1b')
})
