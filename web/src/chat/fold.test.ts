import { describe, expect, test } from 'vitest'
import { createEvent, type Entry, type Event } from '../../../src/core/event/event.ts'
import { EMPTY_VIEW, type LogView } from '../session/log-view.ts'
import { ChatFold } from './fold.ts'
import type { ChatRow } from './rows.ts'

let seq = 0
const stored = (fields: Partial<Event>): Entry => ({
  seq: ++seq,
  event: createEvent({ id: `e${seq}`, invocationId: 'i1', author: 'desk', timestamp: seq, ...fields }),
})
const view = (entries: readonly Entry[], more: Partial<LogView> = {}): LogView => ({ ...EMPTY_VIEW, entries, ...more })
const fold = (entries: readonly Entry[]): readonly ChatRow[] => new ChatFold().update(view(entries))

const say = (text: string): Entry => stored({ author: 'user', content: { role: 'user', parts: [{ text }] } })
const call = (id = 'c1', more: Partial<Event> = {}): Entry =>
  stored({ content: { role: 'model', parts: [{ functionCall: { id, name: 'pay', args: { amount: 5 } } }] }, ...more })
const respond = (response: { [key: string]: unknown }, id = 'c1'): Entry =>
  stored({ content: { role: 'user', parts: [{ functionResponse: { id, name: 'pay', response } }] } })

test('hides the calls that only show a request', () => {
  const shown = stored({
    content: { role: 'model', parts: [{ functionCall: { id: 'r1', name: 'adk_request_confirmation', args: {} } }] },
    longRunningToolIds: ['r1'],
  })
  expect(fold([shown])).toEqual([])
})

test('a row of an imported event is marked, and a row of a recorded event is not', () => {
  seq = 0
  const imported = stored({ imported: true, content: { role: 'model', parts: [{ text: 'Paid.' }] } })
  const rows = fold([imported, call('c9', { imported: true }), say('Hi')])
  expect(rows.map((row) => row.imported)).toEqual([true, true, undefined])
})

describe('a log that is read from its end', () => {
  const turn = (id: string, ...more: (() => Entry)[]): Entry[] => [
    say(`Turn ${id}`),
    call(id, { invocationId: id }),
    ...more.map((next) => next()),
  ]

  test('shows the same rows, page by page, as read at once', () => {
    seq = 0
    const entries = [
      ...turn('c1'),
      ...turn('c2', () => respond({ ok: 1 }, 'c2')),
      ...turn(
        'c3',
        () => respond({ ok: 1 }, 'c3'),
        () => respond({ late: true }, 'c1'),
      ),
    ]
    const pages = new ChatFold()
    for (let from = entries.length - 2; from > 0; from -= 2) pages.update(view(entries.slice(from)))
    expect(pages.update(view(entries))).toEqual(new ChatFold().update(view(entries)))
  })

  test('begins with a message, and without one shows what there is', () => {
    seq = 10
    const tail = [respond({ ok: 1 }, 'c0'), stored({ content: { role: 'model', parts: [{ text: 'Old' }] } })]
    expect(fold([...tail, say('New')]).map(({ type }) => type)).toEqual(['user'])
    seq = 10
    const alone = stored({ content: { role: 'model', parts: [{ text: 'Still talking' }] } })
    expect(fold([alone]).map(({ type }) => type)).toEqual(['text'])
  })
})

describe('a growing log', () => {
  test('keeps unchanged rows, so that they are not drawn again', () => {
    const rows = new ChatFold()
    const entries = [say('Hi'), call()]
    const before = rows.update(view(entries))
    const after = rows.update(view([...entries, respond({ result: 1 })]))
    expect(after[0]).toBe(before[0])
    expect(after[1]).not.toBe(before[1])
    expect(before).toHaveLength(2)
  })

  test('shows the answer to a request that is read after the response to its call', () => {
    seq = 0
    const asked = {
      type: 'request',
      id: 'r1',
      invocationId: 'i1',
      path: 'desk',
      callId: 'c1',
      kind: 'confirmation',
      origin: 'gate',
      args: {},
      definition: 'd',
      createdAt: 1,
    } as const
    const parts = [{ functionResponse: { id: 'r1', name: 'adk_request_confirmation', response: { confirmed: true } } }]
    const before = [say('Hi'), call(), { seq: ++seq, record: asked }]
    const answered = stored({ author: 'user', content: { role: 'user', parts } })
    const response = respond({ result: 1 })
    const rows = new ChatFold()
    rows.update(view(before))
    rows.update(view(before, { recent: [response.event as Event] }))
    const [, row] = rows.update(view([...before, answered, response]))
    expect(row).toMatchObject({ call: { status: 'completed', requests: [{ answer: { type: 'approved' } }] } })
  })

  test('shows a sent message once, and removes one that the server refused', () => {
    const rows = new ChatFold()
    const local = createEvent({ id: 'local-1', author: 'user', content: { role: 'user', parts: [{ text: 'Hi' }] } })
    expect(rows.update(view([], { recent: [local] }))).toMatchObject([{ type: 'user', invocationId: '' }])
    expect(rows.update(view([]))).toEqual([])
    rows.update(view([], { recent: [{ ...local, id: 'local-2' }] }))
    expect(rows.update(view([say('Hi')]))).toMatchObject([{ type: 'user', invocationId: 'i1' }])
  })

  test('is read again when earlier entries are added', () => {
    const rows = new ChatFold()
    const [first, second] = [say('one'), say('two')]
    expect(rows.update(view([second]))).toHaveLength(1)
    expect(rows.update(view([first, second]))).toHaveLength(2)
  })
})

describe('an agent tool', () => {
  const inside = (fields: Partial<Event>, path = 'desk/helper@c1'): Entry =>
    stored({ author: 'helper', nodeInfo: { path }, isolationScope: path, ...fields })
  const asks = (id: string, path = 'desk/helper@c1'): Entry =>
    inside({ content: { role: 'model', parts: [{ functionCall: { id, name: 'pay', args: {} } }] } }, path)
  const shape = (rows: readonly ChatRow[]): unknown[] =>
    rows.map((row) => (row.type === 'call' ? [row.call.id, shape(row.inner)] : row.type))

  test('has the steps of its agent inside its row, page by page and at once, and its request is not repeated', () => {
    seq = 0
    const entries = [
      say('Hi'),
      call('c1', { nodeInfo: { path: 'desk' } }),
      inside({ author: 'desk', content: { role: 'user', parts: [{ text: 'Help' }] } }),
      asks('c2'),
      asks('c3', 'desk/helper@c1/deep@c2'),
      respond({ ok: 1 }, 'c3'),
      inside({ content: { role: 'model', parts: [{ text: 'Helped.' }] } }),
      respond({ text: 'Helped.' }),
      stored({ content: { role: 'model', parts: [{ text: 'Done.' }] } }),
    ]
    const rows = new ChatFold()
    for (let until = 1; until < entries.length; until++) rows.update(view(entries.slice(0, until)))
    const before = rows.update(view(entries.slice(0, 5)))
    const after = rows.update(view(entries))
    expect(shape(after)).toEqual(['user', ['c1', [['c2', [['c3', []]]], 'text']], 'text'])
    expect(after).toEqual(fold(entries))
    expect(after[0]).toBe(before[0])
  })
})

test('a file after a result is shown with the call that returned it', () => {
  seq = 0
  const file = { inlineData: { mimeType: 'image/png', data: '' } }
  const result = (id: string) => ({ functionResponse: { id, name: 'pay', response: {} } })
  const parts = [result('c1'), result('c2'), file]
  const rows = fold([say('Hi'), call('c1'), call('c2'), stored({ content: { role: 'user', parts } })])
  expect(rows.map((row) => (row.type === 'call' ? row.media : row.type))).toEqual(['user', [], [file]])
})

test('a message of the framework to an agent is no reply of the agent', () => {
  seq = 0
  const told = stored({ content: { role: 'user', parts: [{ text: 'Answer as JSON.' }] } })
  expect(fold([say('Hi'), told])[1]).toMatchObject({ type: 'note', text: 'To desk: Answer as JSON.' })
})

test('a stopped run ends with a note, and a failed model call with an error that leads to the call', () => {
  seq = 0
  const stopped = stored({ errorCode: 'CANCELLED', errorMessage: 'The run was cancelled.' })
  const failed = stored({ errorCode: 'MODEL_ERROR', errorMessage: 'overloaded' })
  expect(fold([say('Hi'), stopped, failed]).slice(1)).toMatchObject([
    { type: 'note', text: 'The run was cancelled.' },
    { type: 'error', code: 'MODEL_ERROR', replyId: failed.event?.id },
  ])
})
