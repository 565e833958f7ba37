import { describe, expect, test } from 'vitest'
import type { LiveServerMessage } from '../../../engine/model/live-model.ts'
import { type Command, commandsFor, NEW_CONVERSATION, reduce } from './conversation.ts'
import type { Fact } from './fact.ts'

const heard: LiveServerMessage = { type: 'inputTranscript', text: 'Is it cold?' }
const said: LiveServerMessage = { type: 'outputTranscript', text: 'It is.' }
const audio: LiveServerMessage = { type: 'audio', data: new Uint8Array(2), mimeType: 'audio/pcm' }
const call = { id: 'c1', name: 'look', args: {} }

/** What a session does about the last of these messages. */
function commandsAfter(...messages: LiveServerMessage[]): readonly Command[] {
  let known = NEW_CONVERSATION
  let commands: readonly Command[] = []
  for (const message of messages) {
    const fact: Fact = { type: 'received', at: 0, message }
    commands = commandsFor(known, fact)
    known = reduce(known, fact)
  }
  return commands
}

describe('a session', () => {
  test.each<[string, LiveServerMessage, unknown[]]>([
    ['shows audio at once', audio, [audio]],
    ['shows what the user says', heard, [heard]],
    ['shows what the model says', said, [said]],
    ['does not show an empty transcript', { ...said, text: '' }, []],
    ['does not show token counts', { type: 'usage', usageMetadata: {} }, []],
    [
      'shows an error of the model',
      { type: 'error', message: 'busy' },
      [{ type: 'error', errorCode: 'MODEL_ERROR', message: 'busy' }],
    ],
  ])('%s', (_what, message, events) => {
    expect(commandsAfter(message)).toEqual(events.map((event) => ({ type: 'show', event })))
  })

  test('records what was said when the turn ends, before anything that waits for the end', () => {
    expect(commandsAfter(heard, said, { type: 'turnComplete' })).toEqual([
      {
        type: 'record',
        until: 'turn',
        spoken: { heard: 'Is it cold?', parts: [{ text: 'It is.' }], reply: expect.anything() },
      },
      { type: 'end turn' },
    ])
  })

  test('drops audio when the user interrupts, records the reply and shows the interruption', () => {
    const commands = commandsAfter(heard, audio, said, { type: 'interrupted' })
    expect(commands.map(({ type }) => type)).toEqual(['drop audio', 'record', 'show', 'check idle'])
  })

  test('records nothing twice', () => {
    const [record] = commandsAfter(heard, said, { type: 'turnComplete' }, { type: 'turnComplete' })
    expect(record).toMatchObject({ spoken: { heard: '', parts: [] } })
  })

  test('dispatches calls, and cancels those that the model no longer needs', () => {
    expect(commandsAfter({ type: 'toolCall', calls: [call] })).toEqual([{ type: 'dispatch', calls: [call] }])
    expect(commandsAfter({ type: 'toolCancelled', ids: ['c1'] })).toEqual([{ type: 'cancel', ids: ['c1'] }])
  })

  test('records what was said before the connection was lost', () => {
    const known = [heard, said].reduce(
      (all, message) => reduce(all, { type: 'received', at: 0, message }),
      NEW_CONVERSATION,
    )
    const spoken = { heard: 'Is it cold?', parts: [{ text: 'It is.' }], reply: expect.anything() }
    expect(commandsFor(known, { type: 'lost', at: 0 })).toEqual([{ type: 'record', until: 'lost', spoken }])
  })
})
