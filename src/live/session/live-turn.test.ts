import { describe, expect, test } from 'vitest'
import type { LiveServerMessage } from '../../tool/live-model.ts'
import { LiveTurn } from './live-turn.ts'

const heard = (text: string): LiveServerMessage => ({ type: 'inputTranscript', text })
const spoken = (text: string): LiveServerMessage => ({ type: 'outputTranscript', text })
const text = (words: string, thought?: boolean): LiveServerMessage => ({
  type: 'text',
  text: words,
  ...(thought && { thought }),
})

function turnOf(...messages: LiveServerMessage[]): LiveTurn {
  const turn = new LiveTurn()
  for (const message of messages) turn.add(message)
  return turn
}

describe('what the user said', () => {
  test('is the whole transcript, and taken once', () => {
    const turn = turnOf(heard(' Is it'), heard(' cold?'))
    expect([turn.takeHeard(), turn.takeHeard()]).toEqual(['Is it cold?', ''])
  })

  test('stays when the reply is taken', () => {
    const turn = turnOf(heard('Hello'), text('Hi'))
    turn.takeReply()
    expect(turn.takeHeard()).toBe('Hello')
  })
})

describe('what the model said', () => {
  test('is its text, with thoughts first', () => {
    const { parts, reply } = turnOf(text('Hm', true), text('It is '), text('cold.')).takeReply()
    expect(parts).toEqual([{ text: 'Hm', thought: true }, { text: 'It is cold.' }])
    expect(reply.transcribed).toBe(false)
  })

  test('is the transcript of its speech', () => {
    const { parts, reply } = turnOf(spoken('It is'), spoken(' cold.')).takeReply()
    expect([parts, reply.transcribed]).toEqual([[{ text: 'It is cold.' }], true])
  })

  test('is its text if there is a transcript too', () => {
    expect(turnOf(text('It is cold.'), spoken('it is cold')).takeReply().parts).toEqual([{ text: 'It is cold.' }])
  })

  test('is nothing after audio alone', () => {
    const audio: LiveServerMessage = { type: 'audio', data: new Uint8Array(2), mimeType: 'audio/pcm' }
    expect(turnOf(audio).takeReply().parts).toEqual([])
  })

  test('comes with token counts and sources, once', () => {
    const turn = turnOf(
      { type: 'usage', usageMetadata: { totalTokenCount: 1 } },
      { type: 'usage', usageMetadata: { totalTokenCount: 7 } },
      { type: 'grounding', groundingMetadata: { webSearchQueries: ['oslo'] } },
    )
    expect(turn.takeReply().reply).toMatchObject({
      usageMetadata: { totalTokenCount: 7 },
      groundingMetadata: { webSearchQueries: ['oslo'] },
    })
    expect(turn.takeReply().reply).toMatchObject({ usageMetadata: undefined, groundingMetadata: undefined })
  })

  test('has the code of a server tool if its result has arrived', () => {
    const code: LiveServerMessage = { type: 'part', part: { executableCode: { code: '1', language: 'PYTHON' } } }
    const result: LiveServerMessage = {
      type: 'part',
      part: { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    }
    expect(turnOf(code, result).takeReply().parts).toHaveLength(2)
    expect(turnOf(code).takeReply().parts).toEqual([])
  })
})

describe('a turn that is too long', () => {
  test.each<[string, (words: string) => LiveServerMessage]>([
    ['text', text],
    ['thoughts', (words) => text(words, true)],
    ['speech', spoken],
  ])('keeps the beginning of %s', (_what, message) => {
    const { parts } = turnOf(message('a'.repeat(150_000)), message('b'.repeat(10_000_000)), message('c')).takeReply()
    expect(parts[0]?.text).toBe('a'.repeat(150_000) + 'b'.repeat(50_000))
  })

  test('keeps the beginning of what was heard', () => {
    expect(turnOf(heard('a'.repeat(300_000))).takeHeard()).toHaveLength(200_000)
  })

  test('keeps the first pictures', () => {
    const picture: LiveServerMessage = {
      type: 'part',
      part: { inlineData: { mimeType: 'image/png', data: 'A'.repeat(1024 * 1024) } },
    }
    const turn = turnOf(...Array.from({ length: 100 }, () => picture))
    expect(turn.takeReply().parts).toHaveLength(7)
    turn.add(picture)
    expect(turn.takeReply().parts).toHaveLength(1)
  })
})
