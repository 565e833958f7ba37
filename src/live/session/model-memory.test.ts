import { describe, expect, test } from 'vitest'
import type { Content } from '../../content/content.ts'
import type { LiveClientMessage } from '../../tool/live-model.ts'
import { ModelMemory } from './model-memory.ts'

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] })
const model = (text: string): Content => ({ role: 'model', parts: [{ text }] })
const look = { id: 'c1', name: 'look', args: {} }
const lookResponse = { id: 'c1', name: 'look', response: { ok: true } }

interface Introduced {
  readonly messages: readonly LiveClientMessage[]
  readonly forgotten: number | undefined | 'nothing'
}

function introduce(
  memory: ModelMemory,
  options: { isResumed?: boolean; isBlocking?: boolean; history?: Content[] } = {},
): Introduced {
  const { isResumed = true, isBlocking = false, history = [] } = options
  let forgotten: Introduced['forgotten'] = 'nothing'
  const wire = {
    isBlocking,
    isOpen: () => false,
    forget: (place: number | undefined) => {
      forgotten = place
    },
  }
  const messages = memory.introduction({ isResumed, wire, history: () => history })
  return { messages, forgotten }
}

describe('a resumed conversation', () => {
  test('continues after the calls that its handle covers', () => {
    const memory = new ModelMemory(() => 0)
    memory.receive({ type: 'toolCall', calls: [look] })
    memory.cover()
    memory.receive({ type: 'toolCall', calls: [{ ...look, id: 'c2' }] })
    expect([memory.place, introduce(memory).forgotten]).toEqual([2, 1])
  })

  test('gets a message again that the model may not have', () => {
    const memory = new ModelMemory(() => 0)
    memory.sent({ type: 'text', text: 'a' })
    memory.cover()
    memory.lost()
    expect(introduce(memory).messages).toEqual([{ type: 'content', contents: [user('a')], turnComplete: true }])
  })

  test('is asked for a reply to a message that the model has begun to answer', () => {
    const memory = new ModelMemory(() => 0)
    memory.sent({ type: 'text', text: 'a' })
    memory.receive({ type: 'text', text: 'Well' })
    memory.cover()
    memory.lost()
    expect(introduce(memory).messages).toEqual([{ type: 'content', contents: [], turnComplete: true }])
  })

  test('gets what was heard and said, and not asked for a reply that was given', () => {
    const memory = new ModelMemory(() => 0)
    memory.cover()
    memory.receive({ type: 'inputTranscript', text: 'Hello' })
    memory.receive({ type: 'text', text: 'Hi' })
    memory.heard('Hello')
    memory.said([{ text: 'Hi' }])
    memory.receive({ type: 'turnComplete' })
    memory.lost()
    const contents = [user('Hello'), model('Hi')]
    expect(introduce(memory).messages).toEqual([{ type: 'content', contents, turnComplete: false }])
  })

  test('is not asked for a reply while a call runs', () => {
    const memory = new ModelMemory(() => 0)
    memory.sent({ type: 'text', text: 'a' })
    memory.receive({ type: 'toolCall', calls: [look] })
    memory.called([look])
    memory.cover()
    memory.lost()
    expect(introduce(memory, { isBlocking: true }).messages).toEqual([])
  })

  test('fails if it no longer fits, so that a new one starts', () => {
    const memory = new ModelMemory(() => 0)
    memory.sent({ type: 'toolResponses', responses: [lookResponse] })
    memory.receive({ type: 'text', text: 'Done.' })
    memory.receive({ type: 'turnComplete' })
    expect(memory.canResume).toBe(false)
    expect(() => introduce(memory)).toThrow(expect.objectContaining({ recover: 'fresh' }))
  })
})

describe('a new conversation', () => {
  test('gets the log, and forgets all calls', () => {
    const memory = new ModelMemory(() => 0)
    const history = [user('a'), model('b')]
    const { messages, forgotten } = introduce(memory, { isResumed: false, history })
    expect(messages).toEqual([{ type: 'content', contents: history, turnComplete: false }])
    expect(forgotten).toBeUndefined()
  })

  test('gets nothing if nothing was said, and its first handle can be used', () => {
    const memory = new ModelMemory(() => 0)
    expect(introduce(memory, { isResumed: false }).messages).toEqual([])
    expect(memory.cover()).toBe(true)
  })

  test('replies to the message that waits', () => {
    const memory = new ModelMemory(() => 0)
    memory.sent({ type: 'text', text: 'a' })
    const { messages } = introduce(memory, { isResumed: false, history: [user('a')] })
    expect(messages).toMatchObject([{ turnComplete: true }])
  })

  test('cannot be resumed before the model has read what it was told', () => {
    const memory = new ModelMemory(() => 0)
    introduce(memory, { isResumed: false, history: [user('a')] })
    expect(memory.cover()).toBe(false)
    memory.receive({ type: 'text', text: 'b' })
    expect(memory.cover()).toBe(true)
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
  ])('%s', (_what, message, isWaiting) => {
    const memory = new ModelMemory(() => 0)
    memory.sent(message)
    expect(memory.isWaiting).toBe(isWaiting)
  })
})

test('a reply is whole once it is generated', () => {
  const memory = new ModelMemory(() => 0)
  memory.receive({ type: 'text', text: 'Hi.' })
  expect(memory.isReplyWhole).toBe(false)
  memory.receive({ type: 'generationComplete' })
  expect(memory.isReplyWhole).toBe(true)
})

test('a quick reply shows that the model has read all of the message, or of the introduction, that it follows', () => {
  let now = 0
  const memory = new ModelMemory(() => ++now)
  memory.sent({ type: 'toolResponses', responses: [lookResponse, { ...lookResponse, id: 'c2' }] })
  memory.receive({ type: 'text', text: 'Done.' })
  memory.cover()
  memory.lost()
  expect(introduce(memory).messages).toMatchObject([{ contents: [] }])
  introduce(memory, { isResumed: false, history: [user('a')] })
  memory.receive({ type: 'text', text: 'b' })
  expect(memory.cover()).toBe(true)
})

test('a session is busy while the user speaks', () => {
  const memory = new ModelMemory(() => 0)
  memory.sent({ type: 'activity', state: 'start' })
  expect([memory.isBusy, memory.isWaiting]).toEqual([true, false])
})
