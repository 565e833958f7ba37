import { expect, test } from 'vitest'
import type { LiveClientMessage } from '../../../engine/model/live-model.ts'
import { Outbox } from './outbox.ts'

const pcm = (bytes: number, mimeType = 'audio/pcm;rate=16000'): LiveClientMessage => ({
  type: 'audio',
  data: new Uint8Array(bytes),
  mimeType,
})
const frame = (id: number): LiveClientMessage => ({ type: 'video', data: new Uint8Array([id]), mimeType: 'image/jpeg' })
const activity = (state: 'start' | 'end'): LiveClientMessage => ({ type: 'activity', state })

function bytesIn(messages: readonly LiveClientMessage[]): number {
  return messages.reduce((sum, message) => sum + (message.type === 'audio' ? message.data.byteLength : 0), 0)
}

test('returns what it kept once, in order', () => {
  const outbox = new Outbox()
  outbox.add(activity('start'))
  outbox.add(pcm(4))
  expect(outbox.takeAll()).toEqual([activity('start'), pcm(4)])
  expect(outbox.takeAll()).toEqual([])
})

test('keeps the last two seconds of audio', () => {
  const outbox = new Outbox()
  for (let at = 0; at < 500; at++) outbox.add(pcm(640)) // 20 ms each
  const kept = outbox.takeAll()
  expect([kept.length, bytesIn(kept)]).toEqual([100, 64_000])
})

test.each([
  ['audio/pcm;rate=24000', 96_000],
  ['audio/pcm', 64_000],
  ['audio/pcm;rate=99999999999999', 192_000],
  ['audio/pcm;rate=0', 0],
])('keeps at most two seconds of %s', (mimeType, most) => {
  const outbox = new Outbox()
  for (let at = 0; at < 500; at++) outbox.add(pcm(1_000, mimeType))
  expect(bytesIn(outbox.takeAll())).toBe(most - (most % 1_000))
})

test('counts the audio of the next connection from zero', () => {
  const outbox = new Outbox()
  outbox.add(pcm(64_000))
  outbox.takeAll()
  outbox.add(pcm(64_000))
  expect(bytesIn(outbox.takeAll())).toBe(64_000)
})

test('drops audio and keeps what was sent around it', () => {
  const outbox = new Outbox()
  outbox.add(activity('start'))
  outbox.add(pcm(64_000))
  outbox.add(activity('end'))
  outbox.add(pcm(2))
  expect(outbox.takeAll()).toEqual([activity('start'), activity('end'), pcm(2)])
})

test('keeps only the latest picture', () => {
  const outbox = new Outbox()
  for (const id of [1, 2, 3]) outbox.add(frame(id))
  expect(outbox.takeAll()).toEqual([frame(3)])
})

test('keeps its own copy of media: a microphone fills the same buffer again', () => {
  const outbox = new Outbox()
  const buffer = new Uint8Array([1, 2])
  outbox.add({ type: 'audio', data: buffer, mimeType: 'audio/pcm' })
  buffer.fill(9)
  expect(outbox.takeAll()).toMatchObject([{ data: new Uint8Array([1, 2]) }])
})

test('keeps a limited number of messages, whatever they are', () => {
  const outbox = new Outbox()
  for (let at = 0; at < 5_000; at++) outbox.add(at % 2 ? activity('start') : pcm(0))
  expect(outbox.takeAll()).toHaveLength(2_000)
})

test('drops updates that the next setup has', () => {
  const outbox = new Outbox()
  outbox.add({ type: 'update', instruction: 'old' })
  outbox.add({ type: 'content', contents: [], turnComplete: false })
  outbox.add(pcm(2))
  outbox.dropUpdates()
  outbox.add({ type: 'update', instruction: 'new' })
  expect(outbox.takeAll()).toEqual([pcm(2), { type: 'update', instruction: 'new' }])
})

test('repeats that the user is speaking until the user has stopped', () => {
  const outbox = new Outbox()
  outbox.sent(activity('start'))
  outbox.sent(pcm(2))
  outbox.add(pcm(2))
  expect(outbox.takeAll()).toEqual([activity('start'), pcm(2)])
  outbox.sent(activity('end'))
  expect(outbox.takeAll()).toEqual([])
})
