import { describe, expect, test } from 'vitest'
import { createEvent, type Entry, type Event, type LogRecord } from '../../../src/event/event.ts'
import { EMPTY_VIEW, type LogView } from '../session/log-view.ts'
import { ChatFold } from './fold.ts'
import { type CallRow, type ChatRow, changedArgsOf, statusOf, waitedSeconds } from './rows.ts'

let seq = 0
const stored = (fields: Partial<Event>): Entry => ({
  seq: ++seq,
  event: createEvent({ id: `e${seq}`, invocationId: 'i1', author: 'desk', timestamp: seq, ...fields }),
})
const recorded = (record: LogRecord): Entry => ({ seq: ++seq, record })
const view = (entries: readonly Entry[], more: Partial<LogView> = {}): LogView => ({ ...EMPTY_VIEW, entries, ...more })
const fold = (entries: readonly Entry[]): readonly ChatRow[] => new ChatFold().update(view(entries))
const callOf = (rows: readonly ChatRow[]): CallRow => {
  const row = rows.find(({ type }) => type === 'call')
  if (row?.type !== 'call') throw new Error('There is no call.')
  return row
}

const say = (text: string): Entry => stored({ author: 'user', content: { role: 'user', parts: [{ text }] } })
const call = (id = 'c1', more: Partial<Event> = {}): Entry =>
  stored({ content: { role: 'model', parts: [{ functionCall: { id, name: 'pay', args: { amount: 5 } } }] }, ...more })
const respond = (response: { [key: string]: unknown }, id = 'c1'): Entry =>
  stored({ content: { role: 'user', parts: [{ functionResponse: { id, name: 'pay', response } }] } })
const request = (id = 'r1'): Entry =>
  recorded({
    type: 'request',
    id,
    invocationId: 'i1',
    path: 'desk',
    callId: 'c1',
    kind: 'confirmation',
    origin: 'gate',
    args: { amount: 5 },
    definition: 'd',
    createdAt: 1,
  })
const answer = (response: { [key: string]: unknown }, id = 'r1'): Entry =>
  stored({
    author: 'user',
    content: { role: 'user', parts: [{ functionResponse: { id, name: 'adk_request_confirmation', response } }] },
  })

describe('a call', () => {
  test.each<[status: string, entries: () => Entry[]]>([
    ['running', () => [call()]],
    ['waiting', () => [call(), request()]],
    ['waiting', () => [call('c1', { longRunningToolIds: ['c1'] })]],
    ['running', () => [call(), request(), answer({ confirmed: true })]],
    ['done', () => [call(), request(), answer({ confirmed: true }), respond({ result: 1 })]],
    ['failed', () => [call(), respond({ error: 'No.', errorCode: 'TIMEOUT' })]],
    ['stopped', () => [call(), respond({ error: 'Stopped.', errorCode: 'CANCELLED' })]],
    ['denied', () => [call(), request(), answer({ confirmed: 'true' }), respond({ error: 'Denied.' })]],
    [
      'denied',
      () => [
        call(),
        request(),
        recorded({ type: 'denial', invocationId: 'i1', requestId: 'r1', reason: 'expired' }),
        respond({ error: 'x' }),
      ],
    ],
    ['stopped', () => [call(), stored({ errorCode: 'CANCELLED' })]],
  ])('is %s', (status, entries) => expect(statusOf(callOf(fold(entries())))).toBe(status))

  test('says how its request was answered, and counts starts and repeated attempts', () => {
    const calls = [{ id: 'c1', args: { amount: 4 } }]
    const intent = () => recorded({ type: 'intent', invocationId: 'i1', path: 'desk', calls })
    const rows = fold([
      call(),
      request(),
      answer({ response: '{"confirmed":true,"args":{"amount":4}}' }),
      intent(),
      intent(),
      call('c2'),
    ])
    const [first, second] = rows.filter(({ type }) => type === 'call') as CallRow[]
    expect(first?.requests[0]?.answer).toMatchObject({ type: 'approved', args: { amount: 4 } })
    expect(first).toMatchObject({ starts: 2, attempt: 1, changedArgs: { amount: 4 } })
    expect(second).toMatchObject({ attempt: 2 })
  })

  test('has the arguments of the approver, also without an intent', () => {
    const asked = request()
    const editable = { ...asked, record: { ...asked.record, editable: true } } as Entry
    const approved = answer({ confirmed: true, args: { amount: 4 } })
    const row = callOf(fold([call(), editable, approved, respond({ result: 1 })]))
    expect([row.args, changedArgsOf(row)]).toEqual([{ amount: 5 }, { amount: 4 }])
    expect(changedArgsOf(callOf(fold([call(), editable, answer({ confirmed: true })])))).toBeUndefined()
  })

  test('is no further attempt after a result, or in the next round of a loop', () => {
    const rounds = [1, 2].map((n) => ({ nodeInfo: { path: `loop/desk@${n}` } }))
    const rows = fold([
      call('c1', rounds[0]),
      respond({ error: 'down' }, 'c1'),
      call('c2', rounds[0]),
      respond({ result: 1 }, 'c2'),
      call('c3', rounds[0]),
      call('c4', rounds[1]),
    ])
    const calls = rows.filter(({ type }) => type === 'call') as CallRow[]
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 1, 1])
  })

  test('has the failed attempts of retry()', () => {
    const failed = [{ attempt: 1, attempts: 3, error: 'down', errorCode: 'TIMEOUT', startedAt: 1, endedAt: 2 }]
    const response = stored({ ...respond({ result: 1 }).event, failedAttempts: { c1: failed } })
    expect(callOf(fold([call(), response])).failedAttempts).toEqual(failed)
  })

  test('does not count the wait for answers as its own time', () => {
    const asked = (createdAt: number, at?: number) => ({ record: { createdAt }, ...(at && { answer: { at } }) })
    const requests = [asked(10, 20), asked(15, 25), asked(40, 41), asked(50)]
    expect(waitedSeconds({ requests } as unknown as CallRow)).toBe(16) // only what the function reads
  })

  test('hides the calls that only show a request', () => {
    const shown = stored({
      content: { role: 'model', parts: [{ functionCall: { id: 'r1', name: 'adk_request_confirmation', args: {} } }] },
    })
    expect(fold([shown])).toEqual([])
  })
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
