import { describe, expect, test } from 'vitest'
import type { Content, FunctionResponse } from '../../../core/content/content.ts'
import type { LiveClientMessage } from '../../../engine/model/live-model.ts'
import {
  addTold,
  canResume,
  cover,
  endTurn,
  giveUp,
  isCovering,
  messagesFor,
  NOTHING_SINCE,
  readSent,
  resume,
  type SinceHandle,
} from './since-handle.ts'

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

/** What the session tells a connection that resumes after these steps, at time 0. */
function repeat(since: SinceHandle, isOwed: boolean): LiveClientMessage[] {
  return messagesFor(resume(since, 0), isOwed)
}

type Step = (since: SinceHandle) => SinceHandle

const knownAfter = (...steps: Step[]): SinceHandle => steps.reduce((since, step) => step(since), NOTHING_SINCE)
const sent =
  (...contents: Content[]): Step =>
  (since) =>
    addTold(since, { type: 'sent', contents }, 0)
const said =
  (content: Content): Step =>
  (since) =>
    addTold(since, { type: 'said', content }, 0)
const called =
  (id: string): Step =>
  (since) =>
    addTold(since, { type: 'called', call: call(id) }, 0)
const responded =
  (...given: Parameters<typeof response>): Step =>
  (since) =>
    addTold(since, { type: 'responded', response: response(...given) }, 0)
const read: Step = (since) => readSent(since, 0)
const resumed: Step = (since) => resume(since, 0)
const toldLog: Step = () => ({ ...NOTHING_SINCE, toldAt: 0 })

describe('a handle covers', () => {
  test('a message that the model has begun to answer', () => {
    const since = knownAfter(sent(user('a')), read)
    expect(isCovering(since)).toBe(true)
    expect(repeat(cover(since), false)).toEqual([])
  })

  test('not a message that was perhaps on its way', () => {
    expect(repeat(knownAfter(sent(user('a')), cover), true)).toEqual([told([user('a')])])
  })

  test('everything that the model said, heard and called', () => {
    const since = knownAfter(said(user('heard')), said(model('said')), called('c1'), cover)
    expect(repeat(since, false)).toEqual([])
  })

  test('not the beginning of a conversation that the model was told and has not read', () => {
    expect(isCovering(knownAfter(toldLog))).toBe(false)
    expect(isCovering(knownAfter(toldLog, read))).toBe(true)
  })

  test('a conversation that began empty', () => {
    expect(isCovering(NOTHING_SINCE)).toBe(true)
  })

  test('not what a resumed connection was told, until the model has read it', () => {
    const told = knownAfter(sent(user('a')), read, said(model('b')), resumed)
    const first = messagesFor(told, false)
    expect(first).not.toEqual([])
    // the handle of the resumed connection is made before it reads anything
    expect(repeat(cover(told), false)).toEqual(first)
    expect(repeat(cover(read(resume(cover(told), 0))), false)).toEqual([])
  })
})

test('a handle covers a message only if the model had it when it began to reply', () => {
  const two = addTold(
    addTold(NOTHING_SINCE, { type: 'sent', contents: [user('a')] }, 1),
    { type: 'sent', contents: [user('b')] },
    2,
  )
  expect(repeat(cover(readSent(two, 1)), true)).toEqual([told([user('b')])])
})

test('a message that the model read on a lost connection counts as unread on the next one', () => {
  const since = knownAfter(sent(user('a')), read)
  expect(repeat(since, true)).toEqual([told([user('a')])])
  expect(repeat(cover(resume(since, 0)), true)).toEqual([told([user('a')])])
})

describe('a resumed connection', () => {
  test('gets messages again as they were, with media, and replies once', () => {
    const photo: Content = { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }
    const since = knownAfter(sent(user('a')), sent(photo))
    expect(repeat(since, true)).toEqual([told([user('a')], false), told([photo], true)])
  })

  test('is asked for the reply that was lost', () => {
    expect(repeat(NOTHING_SINCE, true)).toEqual([told([])])
    expect(repeat(NOTHING_SINCE, false)).toEqual([])
  })

  test('gets, as text, what was said and called since', () => {
    const since = knownAfter(
      sent(user('a')),
      said(model('One moment.')),
      called('c1'),
      responded('c1'),
      sent(user('b')),
    )
    expect(repeat(since, true)).toEqual([
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
    const since = knownAfter(sent(user('a')), called('c1'))
    expect(repeat(since, false)).toEqual([told([user('a'), model('[Called look with {"id":"c1"}]')], false)])
  })

  test('is not told of a call that the model gave up', () => {
    expect(repeat(giveUp(knownAfter(called('c1')), ['c1', 'unknown']), true)).toEqual([told([])])
  })

  test('gets the response to a call that the handle covers by its id', () => {
    const since = knownAfter(called('c1'), cover, responded('c1'))
    expect(canResume(since)).toBe(true)
    expect(repeat(since, true)).toEqual([{ type: 'toolResponses', responses: [response('c1')] }])
  })

  test('gets only the latest of several responses to a call', () => {
    const since = knownAfter(...[1, 2, 3].map((at) => responded('c1', { response: { at }, willContinue: true })))
    expect(repeat(since, false)).toEqual([
      { type: 'toolResponses', responses: [response('c1', { response: { at: 3 }, willContinue: true })] },
    ])
  })

  test('gets responses and messages in the order in which they were sent', () => {
    const since = knownAfter(responded('c1'), sent(user('b')))
    expect(canResume(since)).toBe(true)
    expect(repeat(since, true)).toEqual([{ type: 'toolResponses', responses: [response('c1')] }, told([user('b')])])
  })

  test('gets a silent response, and is asked for the reply that it does not lead to', () => {
    const silent = response('c1', { willContinue: false, scheduling: 'SILENT' })
    const since = knownAfter(responded('c1', { willContinue: false, scheduling: 'SILENT' }))
    expect(repeat(since, true)).toEqual([{ type: 'toolResponses', responses: [silent] }, told([])])
  })

  test('gets a silent response besides what was said', () => {
    const silent = response('c1', { scheduling: 'SILENT' })
    const since = knownAfter(responded('c1', { scheduling: 'SILENT' }), said(model('Hi.')))
    expect(canResume(since)).toBe(true)
    expect(repeat(since, false)).toEqual([{ type: 'toolResponses', responses: [silent] }, told([model('Hi.')], false)])
  })

  test('is asked to reply again if the model spoke last', () => {
    const since = knownAfter(said(model('I was about')))
    const again = user('[The connection was lost while you replied. Reply again.]')
    expect(repeat(since, true)).toEqual([told([model('I was about'), again])])
    expect(repeat(resume(since, 0), true)).toEqual([told([model('I was about'), again])])
  })
})

describe('a conversation cannot be resumed', () => {
  test('if the model has replied to a response that the handle misses: it would reply again', () => {
    const since = knownAfter(responded('c1'), read, endTurn)
    expect(canResume(since)).toBe(false)
    expect(canResume(cover(since))).toBe(true)
  })

  test('if the model went on after a response that the handle misses', () => {
    expect(canResume(knownAfter(responded('c1'), called('c2')))).toBe(false)
  })

  test.each<[string, Step[]]>([
    ['too many entries', Array.from({ length: 201 }, () => sent(user('a')))],
    ['too much text', [sent(user('a'.repeat(1_000_001)))]],
  ])('after %s, until a handle covers it', (_what, overflow) => {
    const since = knownAfter(...overflow)
    expect([canResume(since), isCovering(since)]).toEqual([false, false])
    const covered = cover(read(since))
    expect(canResume(covered)).toBe(true)
    expect(repeat(covered, false)).toEqual([])
  })
})

test('a flood of progress keeps one response for each call', () => {
  const flood = Array.from({ length: 10_000 }, (_, at) => responded('c1', { response: { at }, willContinue: true }))
  const since = knownAfter(...flood)
  expect(canResume(since)).toBe(true)
  expect(repeat(since, false)).toHaveLength(1)
})

test('while only a later handle can be used, nothing is kept that it covers', () => {
  const replied = knownAfter(responded('c1'), read, endTurn, read)
  const turn = [called('c2'), responded('c2'), read, said(model('Done.'))]
  const later = [...turn, ...turn, sent(user('a'))].reduce((since, step) => step(since), replied)
  expect(later.entries.length - replied.entries.length).toBe(1)
  expect(repeat(cover(later), true)).toEqual([told([user('a')])])
})
