import { expect, test } from 'vitest'
import type { LiveServerMessage } from '../../../engine/model/live-model.ts'
import { type Conversation, NEW_CONVERSATION, reduce } from './conversation.ts'
import type { Fact } from './fact.ts'
import { heldForMs, heldMessage } from './held.ts'
import { introduce } from './introduce.ts'

const received = (at: number, message: LiveServerMessage): Fact => ({ type: 'received', at, message })
const speech = (ms: number): LiveServerMessage => ({
  type: 'audio',
  data: new Uint8Array(ms * 48),
  mimeType: 'audio/pcm;rate=24000',
})
const held = (at: number, text: string, wants: 'reply' | 'nothing' = 'reply'): Fact => {
  return { type: 'held', at, contents: [{ role: 'user', parts: [{ text }] }], wants }
}
const knownAfter = (...facts: Fact[]): Conversation => facts.reduce(reduce, NEW_CONVERSATION)
const waitMs = (conversation: Conversation, now: number, isBlocked = false): number | undefined =>
  heldForMs(conversation, { isBlocked, now })

test('nothing is sent if nothing is held', () => {
  expect(waitMs(NEW_CONVERSATION, 0)).toBeUndefined()
})

test('a result for an idle model is sent at once', () => {
  expect(waitMs(knownAfter(held(1_000, 'one')), 1_000)).toBe(0)
})

test('a result for a model that never ends its turn is sent after the speech was played and some silence', () => {
  const conversation = knownAfter(received(1_000, speech(20_000)), held(1_000, 'one'))
  expect(waitMs(conversation, 23_900)).toBe(100)
  expect(waitMs(conversation, 24_000)).toBe(0)
})

test('speech that the user interrupts is not waited for', () => {
  const speaking = [received(1_000, speech(20_000)), received(1_000, { type: 'inputTranscript', text: 'Stop' })]
  const conversation = knownAfter(...speaking, received(1_000, { type: 'interrupted' }), held(1_000, 'one'))
  expect(waitMs(conversation, 4_000)).toBe(0)
})

test('a user who speaks is not spoken into', () => {
  const speaking = knownAfter(received(1_000, { type: 'activity', state: 'start' }), held(1_000, 'one'))
  expect(waitMs(speaking, 61_000)).toBe(3_000)
  const silent = reduce(speaking, received(61_000, { type: 'activity', state: 'end' }))
  expect(waitMs(silent, 64_000)).toBe(0)
})

test('results wait while the model waits for another call, and are sent as one message', () => {
  const conversation = knownAfter(held(1_000, 'one', 'nothing'), held(1_000, 'two'))
  expect(waitMs(conversation, 61_000, true)).toBe(3_000)
  expect(waitMs(conversation, 61_000)).toBe(0)
  expect(heldMessage(conversation.held)).toMatchObject({ contents: [{}, {}], turnComplete: true })
  expect(waitMs(reduce(conversation, { type: 'released', at: 61_000 }), 61_000)).toBeUndefined()
})

test('a new conversation gets held results from the log, and replies to them', () => {
  const conversation = knownAfter(held(0, 'one'), { type: 'lost', at: 0 })
  const told = introduce(conversation, {
    at: 0,
    knows: 'nothing',
    can: 'reply',
    isRunning: () => false,
    history: () => [{ role: 'user', parts: [{ text: 'one' }] }],
  })
  expect(told?.messages).toMatchObject([{ turnComplete: true }])
  expect(reduce(conversation, told?.fact as Fact).held).toEqual([])
})

test('a resumed conversation gets held results when it is idle', () => {
  const conversation = knownAfter(held(0, 'one'), { type: 'lost', at: 0 })
  const source = { at: 0, knows: 'handle', can: 'reply', isRunning: () => false, history: () => [] } as const
  const told = introduce(conversation, source)
  expect(told?.messages).toEqual([])
  expect(waitMs(reduce(conversation, told?.fact as Fact), 0)).toBe(0)
})
