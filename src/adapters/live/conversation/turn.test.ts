import { describe, expect, test } from 'vitest'
import type { LiveServerMessage } from '../../../engine/model/live-model.ts'
import type { Fact } from './fact.ts'
import { isBusy, isReplyWhole, NO_TURNS, owesReply, readUntil, reduceTurns, type Turns } from './turn.ts'

const text: LiveServerMessage = { type: 'text', text: 'Hi.' }
const audio: LiveServerMessage = { type: 'audio', data: new Uint8Array(2), mimeType: 'audio/pcm' }
const call: LiveServerMessage = { type: 'toolCall', calls: [{ id: 'c1', name: 'look', args: {} }] }
const heard = (words: string): LiveServerMessage => ({ type: 'inputTranscript', text: words })
const interrupted: LiveServerMessage = { type: 'interrupted' }
const end: LiveServerMessage = { type: 'turnComplete' }

const spoken: LiveServerMessage = { type: 'outputTranscript', text: 'Hi.' }
const generated: LiveServerMessage = { type: 'generationComplete' }

/** A number is a pause in milliseconds. */
type Step = LiveServerMessage | number | 'ask' | 'result' | 'lose' | 'speak' | 'tell'

/** The turns after some steps, and the time. */
function play(...steps: Step[]): { readonly turns: Turns; readonly now: number } {
  let now = 0
  let turns = NO_TURNS
  for (const step of steps) {
    if (typeof step === 'number') now += step
    else turns = reduceTurns(turns, factOf(step, now))
  }
  return { turns, now }
}

function factOf(step: Exclude<Step, number>, at: number): Fact {
  switch (step) {
    case 'tell':
      return { type: 'resumed', at, wants: 'reply' }
    case 'result':
      return { type: 'responded', at, response: { id: 'c1', name: 'look', response: {} } }
    case 'ask':
      return { type: 'sent', at, contents: [], wants: 'reply' }
    case 'lose':
      return { type: 'lost', at }
    case 'speak':
      return { type: 'activity', at, state: 'start' }
    default:
      return { type: 'received', at, message: step }
  }
}

/** Until when the model has read what was sent, as a message after some steps shows. */
function readBy(message: LiveServerMessage, ...before: Step[]): number | undefined {
  const { turns, now } = play(...before)
  return readUntil(turns, { type: 'received', at: now, message })
}

describe('a reply is owed', () => {
  test.each<[string, Step[]]>([
    ['after a question', ['ask']],
    ['while the model replies', ['ask', text]],
    ['while the model speaks of its own accord', [audio]],
    ['after a call', ['ask', call]],
    ['after a call in reply to speech', [heard('Hello'), call]],
    ['after the response to a call', ['ask', call, 'ask']],
    ['after a result that arrives when the turn is over', ['ask', call, end, 'ask']],
    ['when the user was heard', [heard('Hello')]],
    ['to a result that interrupted a reply', ['ask', call, end, text, 'ask', interrupted, end]],
    ['to a result after a turn that ended with its call', ['ask', call, 1, end, 'result']],
    ['to a result that came during a reply', ['ask', call, end, text, 'ask', end]],
    [
      'to a result that came while the model replied to another question',
      ['ask', 500, call, 'ask', 500, text, 500, 'result', 500, end],
    ],
    [
      'to a result that crossed with the reply to a question',
      ['ask', 500, call, 'ask', 500, 'result', 100, text, 100, end],
    ],
    ['while a question waits of which the model knows a part', ['ask', 'lose', 500, 'ask']],
    [
      'to the last of two questions if a reply to both is interrupted',
      ['ask', 500, 'ask', 500, text, interrupted, end],
    ],
    ['to words that interrupted a reply', ['ask', text, heard('No,'), interrupted, end]],
    ['when a reply is lost', ['ask', text, 'lose']],
    ['when a reply to speech is lost', [heard('Hello'), audio, 'lose']],
    ['when the model was lost before it replied', ['ask', 'lose']],
    ['when the model was lost before it replied to speech', [heard('Hello'), 'lose']],
    ['to a question during the reply to another one', ['ask', text, 'ask', end]],
    ['to a question that interrupted a reply', ['ask', text, 'ask', interrupted, end]],
    ['to a question that crossed with the reply to another one', ['ask', 500, 'ask', 100, text, 900, end]],
    ['to a question that crossed with the reply to speech', [heard('Hello'), 500, 'ask', 100, audio, 900, end]],
    ['to a question that crossed with the reply to a result', ['ask', call, 'ask', 500, 'ask', 100, text, end]],
    ['to a question that crossed with an empty reply', ['ask', 500, 'ask', 100, end]],
    ['to a question that crossed with the reply after a reconnect', ['ask', 'lose', 'tell', 9, 'ask', 9, text, end]],
    ['when the last call of a reply is not answered', ['ask', text, generated, call, generated, 'lose']],
    ['when the reply after an interruption is lost', ['ask', text, 'ask', interrupted, end, text, 'lose']],
  ])('%s', (_when, steps) => {
    expect(owesReply(play(...steps).turns)).toBe(true)
  })
})

describe('no reply is owed', () => {
  test.each<[string, Step[]]>([
    ['at the beginning', []],
    ['after a reply', ['ask', text, text, end]],
    ['after a reply to two questions', ['ask', 'ask', text, end]],
    ['after a reply to two questions that came long after both', ['ask', 500, 'ask', 500, text, end]],
    ['after a quick reply', ['ask', 1, text, end]],
    ['after a reply of which only the transcript arrives', ['ask', call, 'result', spoken, end]],
    ['after a turn that ends with a result', ['ask', call, 'result', end]],
    ['when a transcript arrives after the end of its turn', ['ask', audio, end, spoken]],
    ['after a quick reply to the results of two calls', ['ask', call, 'result', 50, 'result', 50, text, end]],
    ['after a reply with a call', ['ask', call, 'ask', text, end]],
    ['after a reply to a late result', ['ask', call, end, 'ask', text, end]],
    ['after an empty reply', ['ask', end]],
    ['after an empty reply to speech', [heard('Hm'), end]],
    ['after an interrupted reply', ['ask', text, interrupted]],
    ['after the end of an interrupted reply', ['ask', text, interrupted, end]],
    ['when a transcript arrives during the reply to it', [audio, heard('Hello'), end]],
    ['when an empty transcript arrives', [heard(''), heard(' \n')]],
    ['when an interrupted reply is lost', ['ask', text, interrupted, 'lose']],
    ['when nothing was under way', ['ask', text, end, 'lose']],
    ['after a reply on the next connection', ['ask', text, 'lose', text, end]],
    ['after a quick reply to a result that came after a reconnect', ['ask', call, 'lose', 500, 'ask', 1, text, end]],
    ['after the reply to what a new connection was told', ['ask', 'ask', 'lose', 'tell', text, end]],
    ['while someone speaks who is not understood yet', ['speak']],
  ])('%s', (_when, steps) => {
    expect(owesReply(play(...steps).turns)).toBe(false)
  })
})

describe('the first message of a reply shows that the model has read what was sent', () => {
  test.each<[string, Step[], LiveServerMessage, boolean]>([
    ['text', ['ask'], text, true],
    ['audio', ['ask'], audio, true],
    ['a call', ['ask'], call, true],
    ['more of the same reply', ['ask', text, 'ask'], text, false],
    ['a call within a reply', ['ask', text, 'ask'], call, false],
    ['text after a response', ['ask', call, 'ask'], text, true],
    ['the reply after an interruption', ['ask', text, 'ask', interrupted], text, true],
    ['the next reply', ['ask', text, end, 'ask'], text, true],
    ['an empty reply', ['ask'], end, true],
    ['the end of a reply', ['ask', text], end, false],
    ['a transcript', ['ask'], { type: 'outputTranscript', text: 'late' }, false],
    ['usage', ['ask'], { type: 'usage', usageMetadata: {} }, false],
  ])('%s', (_what, before, message, isShown) => {
    expect(readBy(message, ...before) !== undefined).toBe(isShown)
  })

  test.each<[string, Step[], number]>([
    ['the only message, however fast the reply is', [10, 'ask', 1], 10],
    ['the first message, and not one that crossed with the reply', [10, 'ask', 50, 'ask', 50], 10],
    ['everything that was sent long enough before', [10, 'ask', 500, 'ask', 500], 810],
    [
      'all results that the model waits for, and what was sent before them',
      [10, 'result', 50, 'ask', 50, 'result', 1],
      110,
    ],
    ['not a message after them that crossed with the reply', [10, call, 'result', 100, 'ask', 50], 10],
    ['not a result after an interruption that crossed with the next reply', [9, 'ask', 1, 'result', interrupted, 9], 9],
    ['nothing but what was sent long before, if the model speaks of its own accord', [1_000], 800],
  ])('%s', (_what, before, until) => {
    expect(readBy(text, ...before)).toBe(until)
  })
})

test('a reply is whole when the model has generated it, and only its end is missing', () => {
  const isWhole = (...steps: Step[]): boolean => isReplyWhole(play(...steps).turns)
  expect(isWhole('ask', text, generated)).toBe(true)
  expect(isWhole('ask', text)).toBe(false)
  expect(isWhole('ask', generated)).toBe(false)
  expect(isWhole('ask', call, generated)).toBe(false)
  expect(isWhole('ask', text, generated, end)).toBe(false)
  expect(isWhole('ask', text, generated, interrupted)).toBe(false)
})

describe('someone speaks', () => {
  test('from the start of activity to the begin of the reply', () => {
    const speech: Step[] = [
      { type: 'activity', state: 'start' },
      { type: 'activity', state: 'end' },
    ]
    const { turns } = play(...speech)
    expect([isBusy(turns), owesReply(turns)]).toEqual([true, false])
    expect(isBusy(play(...speech, text, end).turns)).toBe(false)
  })

  test('until the connection is lost: the next connection reports speech again', () => {
    expect(isBusy(play('speak', 'lose').turns)).toBe(false)
  })

  test('until an empty reply', () => {
    expect(isBusy(play('speak', end).turns)).toBe(false)
  })
})

test('a result that waited for the new connection is read by a quick reply to what the connection was told', () => {
  expect(owesReply(play('ask', call, 'lose', 'result', 500, 'tell', 100, text, end).turns)).toBe(false)
})
