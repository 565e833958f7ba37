import { describe, expect, test } from 'vitest'
import type { LiveServerMessage } from '../../../engine/model/live-model.ts'
import { addSpeech, endSpeech, heardIn, replyIn, SILENCE, type Speech, withoutHeard } from './speech.ts'

const heard = (text: string): LiveServerMessage => ({ type: 'inputTranscript', text })
const spoken = (text: string): LiveServerMessage => ({ type: 'outputTranscript', text })
const text = (words: string, thought?: boolean): LiveServerMessage => ({
  type: 'text',
  text: words,
  ...(thought && { thought }),
})

function speechOf(...messages: LiveServerMessage[]): Speech {
  return messages.reduce(addSpeech, SILENCE)
}

describe('what the user said', () => {
  test('is the whole transcript, and taken once', () => {
    const speech = speechOf(heard(' Is it'), heard(' cold?'))
    expect([heardIn(speech, 'here'), heardIn(withoutHeard(speech, 'here'), 'here')]).toEqual(['Is it cold?', ''])
  })

  test('includes late words about what the model replies to', () => {
    expect(heardIn(speechOf(heard('Is it'), text('It is'), heard(' cold?')), 'turn')).toBe('Is it cold?')
  })

  test('before a reply is recorded when the user interrupts it, and what interrupts starts the next message', () => {
    const speech = speechOf(heard('Hello'), text('Hi'), heard('Wait'))
    expect(heardIn(speech, 'interruption')).toBe('Hello')
    expect(heardIn(endSpeech(speech, 'interruption'), 'here')).toBe('Wait')
  })

  test('goes on after the end of an interrupted turn', () => {
    const interrupted = endSpeech(speechOf(heard('Hello'), text('Hi'), heard('Wait')), 'interruption')
    expect(heardIn(interrupted, 'turn')).toBe('')
    const ended = endSpeech(interrupted, 'turn')
    expect(heardIn(addSpeech(ended, heard(' a moment')), 'turn')).toBe('Wait a moment')
  })

  test('stays when there was no reply to interrupt', () => {
    const speech = speechOf(heard('Hello'))
    expect(heardIn(speech, 'interruption')).toBe('')
    expect(heardIn(endSpeech(speech, 'interruption'), 'here')).toBe('Hello')
  })
})

describe('what the model said', () => {
  test('is its text, with thoughts first', () => {
    const { parts, reply } = replyIn(speechOf(text('Hm', true), text('It is '), text('cold.')))
    expect(parts).toEqual([{ text: 'Hm', thought: true }, { text: 'It is cold.' }])
    expect(reply.transcribed).toBe(false)
  })

  test('is the transcript of its speech', () => {
    const { parts, reply } = replyIn(speechOf(spoken('It is'), spoken(' cold.')))
    expect([parts, reply.transcribed]).toEqual([[{ text: 'It is cold.' }], true])
  })

  test('is its text if there is a transcript too', () => {
    const { parts } = replyIn(speechOf(text('It is cold.'), spoken('it is cold')))
    expect(parts).toEqual([{ text: 'It is cold.' }])
  })

  test('is nothing after audio alone', () => {
    const audio: LiveServerMessage = { type: 'audio', data: new Uint8Array(2), mimeType: 'audio/pcm' }
    expect(replyIn(speechOf(audio)).parts).toEqual([])
  })

  test('in a live turn comes with the token counts and sources of that turn only', () => {
    const speech = speechOf(
      { type: 'usage', usageMetadata: { totalTokenCount: 1 } },
      { type: 'usage', usageMetadata: { totalTokenCount: 7 } },
      { type: 'grounding', groundingMetadata: { webSearchQueries: ['oslo'] } },
    )
    expect(replyIn(speech).reply).toMatchObject({
      usageMetadata: { totalTokenCount: 7 },
      groundingMetadata: { webSearchQueries: ['oslo'] },
    })
    const next = endSpeech(speech, 'turn')
    expect(replyIn(next).reply).toMatchObject({ usageMetadata: undefined, groundingMetadata: undefined })
  })

  test('has the code of a server tool if its result has arrived', () => {
    const code = { type: 'part', part: { executableCode: { code: '1', language: 'PYTHON' } } } as const
    const result = { type: 'part', part: { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } } } as const
    expect(replyIn(speechOf(code, result)).parts).toEqual([code.part, result.part])
    expect(replyIn(speechOf(code)).parts).toEqual([])
  })
})

describe('a turn that is too long', () => {
  test.each<[string, (words: string) => LiveServerMessage]>([
    ['text', text],
    ['thoughts', (words) => text(words, true)],
    ['speech', spoken],
  ])('keeps the beginning of %s', (_what, message) => {
    const speech = speechOf(message('a'.repeat(150_000)), message('b'.repeat(10_000_000)), message('c'))
    expect(replyIn(speech).parts[0]?.text).toBe('a'.repeat(150_000) + 'b'.repeat(50_000))
  })

  test('keeps the beginning of what was heard', () => {
    expect(heardIn(speechOf(heard('a'.repeat(300_000))), 'here')).toHaveLength(200_000)
  })

  test('keeps the first pictures', () => {
    const picture: LiveServerMessage = {
      type: 'part',
      part: { inlineData: { mimeType: 'image/png', data: 'A'.repeat(1024 * 1024) } },
    }
    const speech = speechOf(...Array.from({ length: 100 }, () => picture))
    expect(replyIn(speech).parts).toHaveLength(7)
    expect(replyIn(addSpeech(endSpeech(speech, 'turn'), picture)).parts).toHaveLength(1)
  })
})
