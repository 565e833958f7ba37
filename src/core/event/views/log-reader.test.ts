import { describe, expect, test } from 'vitest'
import { createEvent, type Entry, type Event, type LogRecord } from '../event.ts'
import { LogReader, readLog } from './log-reader.ts'
import type { CallView } from './views.ts'
import { waitedSeconds } from './waited-seconds.ts'

let seq = 0
const stored = (fields: Partial<Event>): Entry => ({
  seq: ++seq,
  event: createEvent({ id: `e${seq}`, invocationId: 'i1', author: 'desk', timestamp: seq, ...fields }),
})
const recorded = (record: LogRecord): Entry => ({ seq: ++seq, record })
/** A message, a call, its approval, start and result. */
const approved = (): Entry[] => {
  const calls = [{ id: 'c1', args: { amount: 4 } }]
  return [
    stored({ author: 'user', content: { role: 'user', parts: [{ text: 'Pay' }] } }),
    call('c1', { nodeInfo: { path: 'desk' }, turnComplete: true, usageMetadata: { promptTokenCount: 7 } }),
    request(),
    stored({
      content: { role: 'model', parts: [{ functionCall: { id: 'r1', name: 'adk_request_confirmation', args: {} } }] },
      nodeInfo: { path: 'desk' },
      longRunningToolIds: ['r1'],
    }),
    answer({ confirmed: true }),
    recorded({ type: 'intent', invocationId: 'i1', path: 'desk', calls }),
    stored({
      content: { role: 'tool', parts: [{ functionResponse: { id: 'c1', name: 'pay', response: { paid: 4 } } }] },
      nodeInfo: { path: 'desk' },
    }),
    stored({ content: { role: 'model', parts: [{ text: 'Paid.' }] }, nodeInfo: { path: 'desk' }, turnComplete: true }),
  ]
}

const callsOf = (entries: readonly Entry[]): CallView[] => readLog(entries).calls()
const callOf = (entries: readonly Entry[]): CallView => {
  const [first] = callsOf(entries)
  if (!first) throw new Error('There is no call.')
  return first
}

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
    ['completed', () => [call(), request(), answer({ confirmed: true }), respond({ result: 1 })]],
    ['failed', () => [call(), respond({ error: 'No.', errorCode: 'TIMEOUT' })]],
    ['cancelled', () => [call(), respond({ error: 'Stopped.', errorCode: 'CANCELLED' })]],
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
    ['cancelled', () => [call(), stored({ errorCode: 'CANCELLED' })]],
  ])('is %s', (status, entries) => expect(callOf(entries()).status).toBe(status))

  test('says how its request was answered, and counts starts and repeated attempts', () => {
    const started = [{ id: 'c1', args: { amount: 4 } }]
    const intent = () => recorded({ type: 'intent', invocationId: 'i1', path: 'desk', calls: started })
    const calls = callsOf([
      call(),
      request(),
      answer({ response: '{"confirmed":true,"args":{"amount":4}}' }),
      intent(),
      intent(),
      call('c2'),
    ])
    const [first, second] = calls
    expect(first?.requests[0]?.answer).toMatchObject({ type: 'approved', args: { amount: 4 } })
    expect(first).toMatchObject({ starts: 2, attempt: 1, changedArgs: { amount: 4 } })
    expect(second).toMatchObject({ attempt: 2 })
  })

  test('has the arguments of the approver, also without an intent', () => {
    const asked = request()
    const editable = { ...asked, record: { ...asked.record, editable: true } } as Entry
    const approved = answer({ confirmed: true, args: { amount: 4 } })
    const { args, changedArgs } = callOf([call(), editable, approved, respond({ result: 1 })])
    expect([args, changedArgs]).toEqual([{ amount: 5 }, { amount: 4 }])
    expect(callOf([call(), editable, answer({ confirmed: true })]).changedArgs).toBeUndefined()
  })

  test('is no further attempt after a result, or in the next round of a loop', () => {
    const rounds = [1, 2].map((n) => ({ nodeInfo: { path: `loop/desk@${n}` } }))
    const calls = callsOf([
      call('c1', rounds[0]),
      respond({ error: 'down' }, 'c1'),
      call('c2', rounds[0]),
      respond({ result: 1 }, 'c2'),
      call('c3', rounds[0]),
      call('c4', rounds[1]),
    ])
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 1, 1])
  })

  test('has the failed attempts of retry()', () => {
    const failed = [{ attempt: 1, attempts: 3, error: 'down', errorCode: 'TIMEOUT', startedAt: 1, endedAt: 2 }]
    const response = stored({ ...respond({ result: 1 }).event, failedAttempts: { c1: failed } })
    expect(callOf([call(), response]).failedAttempts).toEqual(failed)
  })

  test('does not count waits as its own time', () => {
    const wait = (from: number, to?: number) => ({ kind: 'input' as const, from, to, answer: undefined })
    expect(waitedSeconds({ waits: [wait(10, 20), wait(15, 25), wait(40, 41), wait(50)] })).toBe(16)
  })
})

describe('a log', () => {
  test('has invocations with their scopes, replies, calls, answers and tokens', () => {
    const [invocation] = readLog(approved()).invocations()
    expect(invocation).toMatchObject({
      id: 'i1',
      status: 'ended',
      message: { author: 'user' },
      scopes: [{ path: 'desk', agent: 'desk', activeAgent: 'desk', parent: undefined }],
      replies: [{ isModel: true }, { text: 'Paid.' }],
      calls: [{ status: 'completed', gate: 'passed', changedArgs: { amount: 4 }, starts: 1, interruptions: 0 }],
      marks: [
        { type: 'message', text: 'Pay' },
        { type: 'answer', callId: 'c1', answer: { type: 'approved' } },
      ],
      tokens: { input: 7, output: 0 },
    })
    expect(invocation?.calls[0]?.waits).toMatchObject([{ kind: 'confirmation', answer: { type: 'approved' } }])
    expect(invocation?.calls[0]?.requests[0]).not.toHaveProperty('definition')
  })

  test('says the same entry by entry as at once, and keeps views that do not change', () => {
    const entries = approved()
    const reader = new LogReader()
    const statuses = entries.map((entry) => {
      reader.add(entry)
      return reader.call('c1')?.status
    })
    expect(statuses).toEqual([
      undefined,
      ...['running', 'waiting', 'waiting', 'running', 'running', 'completed', 'completed'],
    ])
    const before = reader.call('c1')
    expect(reader.invocations()).toEqual(readLog(entries).invocations())
    expect(reader.call('c1')).toBe(before)
    reader.add(entries[1] as Entry) // read twice, as by a page that reads what it has streamed
    expect(reader.invocations()).toEqual(readLog(entries).invocations())
  })

  test('is read from any entry on, and without its records', () => {
    const entries = approved()
    for (let from = 1; from < entries.length; from++) {
      const [invocation] = readLog(entries.slice(from)).invocations()
      expect(invocation?.status).toBe('ended')
      expect(invocation?.calls).toHaveLength(from === 1 ? 1 : 0)
    }
    const events = entries.filter(({ event }) => event)
    expect(readLog(events).calls()).toMatchObject([{ id: 'c1', status: 'completed', requests: [] }])
  })

  test('that another program wrote has its calls, also without ids and in other invocations', () => {
    const foreign = (parts: object[], fields: Partial<Event> = {}): Entry =>
      stored({ content: { role: 'user', parts } as Event['content'] & object, ...fields })
    const unnamed = [
      stored({ content: { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] } }),
      foreign([{ functionResponse: { name: 'look', response: { ok: true } } }]),
    ]
    expect(callsOf(unnamed)).toMatchObject([
      { name: 'look', status: 'completed', response: { response: { ok: true } } },
    ])
    const handle = { id: 'c1', name: 'pay', response: { ticket: 1 }, willContinue: true }
    const later = [
      call('c1', { longRunningToolIds: ['c1'] }),
      foreign([{ functionResponse: handle }]),
      foreign([{ functionResponse: { id: 'c1', name: 'pay', response: { paid: 5 } } }], {
        author: 'user',
        invocationId: 'i2',
      }),
    ]
    expect(callOf(later.slice(0, 2))).toMatchObject({ status: 'waiting', handle: { ticket: 1 } })
    expect(callOf(later)).toMatchObject({
      status: 'completed',
      handle: { ticket: 1 },
      response: { response: { paid: 5 } },
    })
  })

  test('tells which calls are inside an agent tool, and what its model calls used', () => {
    const inside = { nodeInfo: { path: 'desk/helper@c1' }, isolationScope: 'desk/helper@c1', author: 'helper' }
    const log = readLog([
      call('c1', { nodeInfo: { path: 'desk' } }),
      stored({ ...inside, author: 'desk', content: { role: 'user', parts: [{ text: 'Help' }] } }),
      call('c2', { ...inside, usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } }),
    ])
    expect(log.call('c2')).toMatchObject({ parent: 'c1', agent: 'helper', tokens: undefined })
    expect(log.call('c1')).toMatchObject({ parent: undefined, tokens: { input: 3, output: 2 } })
    expect(log.invocation('i1')?.scopes).toMatchObject([
      { parent: undefined },
      { path: 'desk/helper@c1', parent: 'c1' },
    ])
  })
})

describe('a log of unknown origin', () => {
  const usage = { usageMetadata: { promptTokenCount: 1 }, turnComplete: true }

  test.each([
    ['a call inside its own scope', [call('c1', { nodeInfo: { path: 'desk/x@c1' }, ...usage })]],
    [
      'two calls inside each other',
      [
        call('c1', { nodeInfo: { path: 'desk/x@c2' }, ...usage }),
        call('c2', { nodeInfo: { path: 'desk/x@c1' }, ...usage }),
      ],
    ],
    ['a call inside its own author', [call('c1', { author: 'desk/x@c1', ...usage })]],
  ])('%s is read to its end, and has no call around it', (_, entries) => {
    expect(
      readLog([
        ...entries,
        ...entries.map(({ event }) => ({ event: { ...event, id: `${event?.id}-2` } as Event })),
      ]).calls(),
    ).toMatchObject(entries.map(() => ({ parent: undefined })))
  })

  test('the name of an author is no path of scopes', () => {
    const [invocation] = readLog([call('c1', { author: 'a@c0/b@c1/c@c2' })]).invocations()
    expect(invocation?.scopes.map(({ path }) => path)).toEqual(['a@c0_b@c1_c@c2'])
  })

  test('events without actions and contents without parts are read', () => {
    const bare = [
      { id: '1', invocationId: 'i1', author: 'user', timestamp: 1, content: { role: 'user', parts: [{ text: 'Hi' }] } },
      { id: '2', invocationId: 'i1', author: 'desk', timestamp: 2, content: { role: 'model' } },
      { id: '3', invocationId: 'i1', author: 'desk', timestamp: 3, actions: null, content: null },
      {
        id: '4',
        invocationId: 'i1',
        author: 'desk',
        timestamp: 4,
        content: { role: 'model', parts: [{ text: 'Hello' }] },
      },
    ] as unknown as Event[]
    const [invocation] = readLog(bare.map((event) => ({ event }))).invocations()
    expect(invocation?.replies.map(({ text }) => text)).toEqual(['Hello'])
  })
})
