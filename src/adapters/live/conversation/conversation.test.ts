import { describe, expect, test } from 'vitest'
import type { Content } from '../../../core/content/content.ts'
import type { LiveClientMessage, LiveServerMessage } from '../../../engine/model/live-model.ts'
import { type Conversation, factsIn, NEW_CONVERSATION, reduce } from './conversation.ts'
import type { Fact } from './fact.ts'
import { introduce, type Told } from './introduce.ts'
import { canResume, isCovering } from './since-handle.ts'
import { isBusy, isReplyWhole, owesReply } from './turn.ts'

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] })
const model = (text: string): Content => ({ role: 'model', parts: [{ text }] })
const look = { id: 'c1', name: 'look', args: {} }
const lookResponse = { id: 'c1', name: 'look', response: { ok: true } }

const received = (message: LiveServerMessage, at = 0): Fact => ({ type: 'received', at, message })
const sent = (message: LiveClientMessage, at = 0): Fact[] => factsIn(message, at)
const asked = sent({ type: 'text', text: 'a' })
const called: Fact[] = [received({ type: 'toolCall', calls: [look] }), { type: 'called', at: 0, calls: [look] }]
const handle: Fact = { type: 'handle', at: 0 }
const lost: Fact = { type: 'lost', at: 0 }

/** What is known after facts. */
function knownAfter(...facts: Fact[]): Conversation {
  return facts.reduce(reduce, NEW_CONVERSATION)
}

/** What the session tells a new connection. */
function tell(
  conversation: Conversation,
  options: { isResumed?: boolean; isBlocking?: boolean; history?: Content[]; at?: number } = {},
): Told | undefined {
  const { isResumed = true, isBlocking = false, history = [], at = 0 } = options
  return introduce(conversation, {
    at,
    knows: isResumed ? 'handle' : 'nothing',
    can: isBlocking ? 'nothing' : 'reply',
    isRunning: () => false,
    history: () => history,
  })
}

describe('a resumed conversation', () => {
  test('continues after the calls that its handle covers', () => {
    const { place, coveredPlace } = knownAfter(...called, handle, received({ type: 'toolCall', calls: [look] }))
    expect([place, coveredPlace]).toEqual([2, 1])
  })

  test('gets a message again that the model may not have', () => {
    const conversation = knownAfter(...asked, handle, lost)
    expect(tell(conversation)?.messages).toEqual([{ type: 'content', contents: [user('a')], turnComplete: true }])
  })

  test('is asked for a reply to a message that the model has begun to answer', () => {
    const conversation = knownAfter(...asked, received({ type: 'text', text: 'Well' }), handle, lost)
    expect(tell(conversation)?.messages).toEqual([{ type: 'content', contents: [], turnComplete: true }])
  })

  test('gets what was heard and said, and is not asked for a reply that was given', () => {
    const conversation = knownAfter(
      handle,
      received({ type: 'inputTranscript', text: 'Hello' }),
      received({ type: 'text', text: 'Hi' }),
      received({ type: 'turnComplete' }),
      lost,
    )
    const contents = [user('Hello'), model('Hi')]
    expect(tell(conversation)?.messages).toEqual([{ type: 'content', contents, turnComplete: false }])
  })

  test('gets what was heard before the loss, and not the part of a reply that the model will give again', () => {
    const conversation = knownAfter(
      handle,
      received({ type: 'inputTranscript', text: 'Hello' }),
      received({ type: 'text', text: 'I was ab' }),
      lost,
    )
    expect(tell(conversation)?.messages).toEqual([{ type: 'content', contents: [user('Hello')], turnComplete: true }])
  })

  test('gets what the user said and wrote as two messages', () => {
    const conversation = knownAfter(
      handle,
      received({ type: 'inputTranscript', text: 'Hello' }),
      { type: 'wrote', at: 0 },
      ...asked,
      lost,
    )
    const contents = [user('Hello'), user('a')]
    expect(tell(conversation)?.messages).toEqual([{ type: 'content', contents, turnComplete: true }])
  })

  test('is not asked for a reply while a call runs', () => {
    const conversation = knownAfter(...asked, ...called, handle, lost)
    expect(tell(conversation, { isBlocking: true })?.messages).toEqual([])
  })

  test('is not told of a call that the model gave up', () => {
    const conversation = knownAfter(...called, received({ type: 'toolCancelled', ids: ['c1'] }), lost)
    expect(tell(conversation)?.messages).toEqual([{ type: 'content', contents: [], turnComplete: true }])
  })

  test('does not start if the handle no longer fits, so that a new one starts', () => {
    const conversation = knownAfter(
      ...sent({ type: 'toolResponses', responses: [lookResponse] }),
      received({ type: 'text', text: 'Done.' }),
      received({ type: 'turnComplete' }),
    )
    expect(canResume(conversation.since)).toBe(false)
    expect(tell(conversation)).toBeUndefined()
  })

  test('gets the same again if it is lost before the model has read it', () => {
    const conversation = knownAfter(
      ...asked,
      received({ type: 'text', text: 'Well' }),
      received({ type: 'turnComplete' }),
      lost,
    )
    const first = tell(conversation)
    const resumed = [first?.fact as Fact, handle, lost].reduce(reduce, conversation)
    expect(tell(resumed)?.messages).toEqual(first?.messages)
  })
})

describe('a new conversation', () => {
  test('gets the log', () => {
    const history = [user('a'), model('b')]
    const told = tell(NEW_CONVERSATION, { isResumed: false, history })
    expect(told?.messages).toEqual([{ type: 'content', contents: history, turnComplete: false }])
  })

  test('gets nothing if nothing was said, and its first handle can be used', () => {
    const told = tell(NEW_CONVERSATION, { isResumed: false })
    expect(told?.messages).toEqual([])
    expect(isCovering(knownAfter(told?.fact as Fact).since)).toBe(true)
  })

  test('replies to the message that waits', () => {
    const told = tell(knownAfter(...asked), { isResumed: false, history: [user('a')] })
    expect(told?.messages).toMatchObject([{ turnComplete: true }])
  })

  test('cannot be resumed before the model has read what it was told', () => {
    const told = tell(NEW_CONVERSATION, { isResumed: false, history: [user('a')] })?.fact as Fact
    expect(isCovering(knownAfter(told).since)).toBe(false)
    expect(isCovering(knownAfter(told, received({ type: 'text', text: 'b' })).since)).toBe(true)
  })
})

describe('the model owes a reply', () => {
  test.each<[string, LiveClientMessage, boolean]>([
    ['to a text', { type: 'text', text: 'a' }, true],
    ['to content', { type: 'content', contents: [user('a')], turnComplete: true }, true],
    ['not to context', { type: 'content', contents: [user('a')], turnComplete: false }, false],
    ['to a result', { type: 'toolResponses', responses: [lookResponse] }, true],
    [
      'not to an acknowledgement',
      { type: 'toolResponses', responses: [{ ...lookResponse, willContinue: true }] },
      false,
    ],
    [
      'not to a silent result',
      { type: 'toolResponses', responses: [{ ...lookResponse, willContinue: false, scheduling: 'SILENT' }] },
      false,
    ],
    ['not to activity', { type: 'activity', state: 'start' }, false],
    ['not to audio', { type: 'audio', data: new Uint8Array(2), mimeType: 'audio/pcm' }, false],
  ])('%s', (_what, message, isOwed) => {
    expect(owesReply(knownAfter(...sent(message)).turns)).toBe(isOwed)
  })
})

test('a reply is whole once it is generated', () => {
  const begun = knownAfter(received({ type: 'text', text: 'Hi.' }))
  expect(isReplyWhole(begun.turns)).toBe(false)
  expect(isReplyWhole(reduce(begun, received({ type: 'generationComplete' })).turns)).toBe(true)
})

test('a quick reply shows that the model has read all of the message, or of the introduction, that it follows', () => {
  const message: LiveClientMessage = { type: 'toolResponses', responses: [lookResponse, { ...lookResponse, id: 'c2' }] }
  const replied = knownAfter(
    ...sent(message, 1),
    received({ type: 'text', text: 'Done.' }, 2),
    { ...handle, at: 3 },
    lost,
  )
  expect(tell(replied, { at: 5 })?.messages).toMatchObject([{ contents: [] }])
  const told = tell(replied, { isResumed: false, history: [user('a')], at: 6 })?.fact as Fact
  const read = [told, received({ type: 'text', text: 'b' }, 7)].reduce(reduce, replied)
  expect(isCovering(read.since)).toBe(true)
})

test('a session is busy while the user speaks', () => {
  const { turns } = knownAfter(...sent({ type: 'activity', state: 'start' }))
  expect([isBusy(turns), owesReply(turns)]).toEqual([true, false])
})
