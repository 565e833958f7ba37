import { describe, expect, test } from 'vitest'
import type { Content, FunctionResponse } from '../../content/content.ts'
import type { LiveClientMessage } from '../../tool/live-model.ts'
import { SinceHandle } from './since-handle.ts'

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] })
const model = (text: string): Content => ({ role: 'model', parts: [{ text }] })
const told = (contents: readonly Content[], turnComplete = true): LiveClientMessage => ({
  type: 'content',
  contents,
  turnComplete,
})
const response = (id: string, more: Partial<FunctionResponse> = {}): FunctionResponse => ({
  id,
  name: 'look',
  response: { ok: true },
  ...more,
})
const call = (id: string): { id: string; name: string; args: { id: string } } => ({ id, name: 'look', args: { id } })

describe('a handle covers', () => {
  test('a message that the model has begun to answer', () => {
    const since = new SinceHandle(() => 0)
    since.sent([user('a')])
    since.read(0)
    expect(since.cover()).toBe(true)
    expect(since.repeat(false)).toEqual([])
  })

  test('not a message that was perhaps on its way', () => {
    const since = new SinceHandle(() => 0)
    since.sent([user('a')])
    since.cover()
    expect(since.repeat(true)).toEqual([told([user('a')])])
  })

  test('everything that the model said, heard and called', () => {
    const since = new SinceHandle(() => 0)
    since.said(user('heard'))
    since.said(model('said'))
    since.called(call('c1'))
    since.cover()
    expect(since.repeat(false)).toEqual([])
  })

  test('not the beginning of a conversation that the model was told and has not read', () => {
    const since = new SinceHandle(() => 0)
    since.restart(true)
    expect(since.cover()).toBe(false)
    since.read(0)
    expect(since.cover()).toBe(true)
  })

  test('a conversation that began empty', () => {
    const since = new SinceHandle(() => 0)
    since.restart(false)
    expect(since.cover()).toBe(true)
  })

  test('not what a resumed connection was told, until the model has read it', () => {
    const since = new SinceHandle(() => 0)
    since.sent([user('a')])
    since.read(0)
    since.said(model('b'))
    const first = since.repeat(false)
    since.cover() // the handle of the resumed connection is made before it reads anything
    expect(since.repeat(false)).toEqual(first)
    since.read(0)
    since.cover()
    expect(since.repeat(false)).toEqual([])
  })
})

test('a handle covers a message only if the model had it when it began to reply', () => {
  let now = 1
  const since = new SinceHandle(() => now)
  since.sent([user('a')])
  now = 2
  since.sent([user('b')])
  since.read(1)
  since.cover()
  expect(since.repeat(true)).toEqual([told([user('b')])])
})

test('a message that the model read on a lost connection counts as unread on the next one', () => {
  const since = new SinceHandle(() => 0)
  since.sent([user('a')])
  since.read(0)
  expect(since.repeat(true)).toEqual([told([user('a')])])
  since.cover()
  expect(since.repeat(true)).toEqual([told([user('a')])])
})

describe('a resumed connection', () => {
  test('gets messages again as they were, with media, and replies once', () => {
    const since = new SinceHandle(() => 0)
    const photo: Content = { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }
    since.sent([user('a')])
    since.sent([photo])
    expect(since.repeat(true)).toEqual([told([user('a')], false), told([photo], true)])
  })

  test('is asked for the reply that was lost', () => {
    const since = new SinceHandle(() => 0)
    expect(since.repeat(true)).toEqual([told([])])
    expect(since.repeat(false)).toEqual([])
  })

  test('gets, as text, what was said and called since', () => {
    const since = new SinceHandle(() => 0)
    since.sent([user('a')])
    since.said(model('One moment.'))
    since.called(call('c1'))
    since.responded(response('c1'))
    since.sent([user('b')])
    expect(since.repeat(true)).toEqual([
      told([
        user('a'),
        model('One moment.'),
        model('[Called look with {"id":"c1"}]'),
        user('[Result of look: {"ok":true}]'),
        user('b'),
      ]),
    ])
  })

  test('knows of a call whose result follows, and does not reply yet', () => {
    const since = new SinceHandle(() => 0)
    since.sent([user('a')])
    since.called(call('c1'))
    expect(since.repeat(false)).toEqual([told([user('a'), model('[Called look with {"id":"c1"}]')], false)])
  })

  test('is not told of a call that the model gave up', () => {
    const since = new SinceHandle(() => 0)
    since.called(call('c1'))
    since.cancelled(['c1', 'unknown'])
    expect(since.repeat(true)).toEqual([told([])])
  })

  test('gets the response to a call that the handle covers by its id', () => {
    const since = new SinceHandle(() => 0)
    since.called(call('c1'))
    since.cover()
    since.responded(response('c1'))
    expect(since.canResume).toBe(true)
    expect(since.repeat(true)).toEqual([{ type: 'toolResponses', responses: [response('c1')] }])
  })

  test('gets only the latest of several responses to a call', () => {
    const since = new SinceHandle(() => 0)
    for (const at of [1, 2, 3]) since.responded(response('c1', { response: { at }, willContinue: true }))
    expect(since.repeat(false)).toEqual([
      { type: 'toolResponses', responses: [response('c1', { response: { at: 3 }, willContinue: true })] },
    ])
  })

  test('gets responses and messages in the order in which they were sent', () => {
    const since = new SinceHandle(() => 0)
    since.responded(response('c1'))
    since.sent([user('b')])
    expect(since.canResume).toBe(true)
    expect(since.repeat(true)).toEqual([{ type: 'toolResponses', responses: [response('c1')] }, told([user('b')])])
  })

  test('gets a silent response, and is asked for the reply that it does not lead to', () => {
    const since = new SinceHandle(() => 0)
    const silent = response('c1', { willContinue: false, scheduling: 'SILENT' })
    since.responded(silent)
    expect(since.repeat(true)).toEqual([{ type: 'toolResponses', responses: [silent] }, told([])])
  })

  test('gets a silent response besides what was said', () => {
    const since = new SinceHandle(() => 0)
    const silent = response('c1', { scheduling: 'SILENT' })
    since.responded(silent)
    since.said(model('Hi.'))
    expect(since.canResume).toBe(true)
    expect(since.repeat(false)).toEqual([{ type: 'toolResponses', responses: [silent] }, told([model('Hi.')], false)])
  })

  test('is asked to reply again if the model spoke last', () => {
    const since = new SinceHandle(() => 0)
    since.said(model('I was about'))
    const again = user('[The connection was lost while you replied. Reply again.]')
    expect(since.repeat(true)).toEqual([told([model('I was about'), again])])
    expect(since.repeat(true)).toEqual([told([model('I was about'), again])])
  })
})

describe('a conversation cannot be resumed', () => {
  test('if the model has replied to a response that the handle misses: it would reply again', () => {
    const since = new SinceHandle(() => 0)
    since.responded(response('c1'))
    since.read(0)
    since.turnEnded()
    expect(since.canResume).toBe(false)
    since.cover()
    expect(since.canResume).toBe(true)
  })

  test('if the model went on after a response that the handle misses', () => {
    const since = new SinceHandle(() => 0)
    since.responded(response('c1'))
    since.called(call('c2'))
    expect(since.canResume).toBe(false)
  })

  test.each([
    [
      'too many entries',
      (since: SinceHandle): void => {
        for (let at = 0; at <= 200; at++) since.sent([user('a')])
      },
    ],
    ['too much text', (since: SinceHandle): void => since.sent([user('a'.repeat(1_000_001))])],
  ])('after %s, until a handle covers it', (_what, overflow) => {
    const since = new SinceHandle(() => 0)
    overflow(since)
    expect([since.canResume, since.cover()]).toEqual([false, false])
    since.read(0)
    expect([since.cover(), since.canResume]).toEqual([true, true])
    expect(since.repeat(false)).toEqual([])
  })
})

test('a flood of progress keeps one response for each call', () => {
  const since = new SinceHandle(() => 0)
  for (let at = 0; at < 10_000; at++) since.responded(response('c1', { response: { at }, willContinue: true }))
  expect(since.canResume).toBe(true)
  expect(since.repeat(false)).toHaveLength(1)
})
