import { expect, test } from 'vitest'
import type { PendingRequest } from '../../../src/core/event/pending-request.ts'
import { IDLE, type LiveFrame, type LiveView, withBreak, withFrame, withOpen } from './live-view.ts'
import { decodePcm, encodePcm, levelOf, Resampler, rateOf } from './pcm.ts'

const play = (...frames: readonly LiveFrame[]): LiveView =>
  frames.reduce((view, frame) => withFrame(view, frame, 1), IDLE)

const said = ({ items }: LiveView): string[] =>
  items.map((item) => (item.type === 'speech' ? `${item.speaker}: ${item.text}` : item.type))

test('the transcript joins the pieces of each side and keeps its final text', () => {
  const view = play(
    { type: 'inputTranscript', text: 'Where ' },
    { type: 'outputTranscript', text: 'One ' },
    { type: 'inputTranscript', text: 'is it' },
    { type: 'inputTranscript', text: 'Where is it?', finished: true },
    { type: 'outputTranscript', text: 'moment.' },
    { type: 'turnComplete' },
    { type: 'outputTranscript', text: 'Found.' },
  )
  expect(said(view)).toEqual(['user: Where is it?', 'model: One moment.', 'model: Found.'])
})

test('a broken connection keeps the transcript, and says once what was not heard', () => {
  const broken = withBreak(withBreak(play({ type: 'outputTranscript', text: 'One ' })))
  expect(broken).toMatchObject({
    status: 'reconnecting',
    items: [{ text: 'One ', isFinished: true }, { type: 'note' }],
  })
  const again = withFrame(withOpen(broken), { type: 'outputTranscript', text: 'Hello.' }, 2)
  expect(again).toMatchObject({ status: 'open', problem: undefined })
  expect(said(again)).toEqual(['model: One ', 'note', 'note', 'model: Hello.'])
})

test('a watcher that runs again is one item with its count, the latest first', () => {
  const ran = (name: string, hook: 'watcher' | 'pattern' = 'watcher') => ({ type: 'hook', hook, name }) as const
  const view = play(ran('anger'), ran('balance'), ran('stays upset', 'pattern'), ran('anger'))
  expect(view.hooks.map(({ hook, name, count }) => `${hook} ${name} ${count}`)).toEqual([
    'watcher anger 2',
    'pattern stays upset 1',
    'watcher balance 1',
  ])
  expect(view.items).toEqual([])
})

test('a call shows its progress and its response, and the response closes its request', () => {
  const call = { id: 'c1', name: 'refund', args: { order: 7 } }
  const request = { id: 'r1', functionCallId: 'c1', tool: 'refund' } as PendingRequest
  const before = play(
    { type: 'toolCall', calls: [call] },
    { type: 'toolProgress', id: 'c1', name: 'refund', value: 0.5 },
    { type: 'request', request },
    { type: 'request', request },
  )
  expect(before.items).toMatchObject([{ type: 'call', status: 'running', progress: 0.5 }])
  expect(before.requests).toEqual([request])
  const responses = [{ id: 'c1', name: 'refund', response: { error: 'no' } }]
  const after = withFrame(before, { type: 'toolResponse', responses }, 3)
  expect(after).toMatchObject({ requests: [], items: [{ status: 'failed', startedAt: 1, endedAt: 3 }] })
})

test('an unknown event, and a response to an unknown call, change nothing', () => {
  const view = play({ type: 'phase', to: 'greet' })
  expect(withFrame(view, { type: 'later' } as unknown as LiveFrame, 1)).toBe(view)
  expect(withFrame(view, { type: 'toolResponse', responses: [{ name: 'x', response: {} }] }, 1)).toEqual(view)
  expect(view.phases).toEqual(['greet'])
})

test('a long session keeps the latest items only', () => {
  let view = IDLE
  for (let at = 0; at < 1000; at++) view = withFrame(view, { type: 'interrupted' }, at)
  expect(view.items).toHaveLength(400)
  expect(new Set(view.items.map(({ id }) => id)).size).toBe(400)
})

test('sound is resampled to 16 kHz without gaps between chunks', () => {
  const resampler = new Resampler(48_000)
  const wave = (from: number) => Float32Array.from({ length: 2048 }, (_, at) => Math.sin((from + at) / 60))
  const samples = [0, 1, 2, 3].flatMap((chunk) => [...resampler.convert(wave(chunk * 2048))])
  expect(samples).toHaveLength(Math.ceil((4 * 2048) / 3))
  const jumps = samples.slice(1).map((value, at) => Math.abs(value - (samples[at] ?? 0)))
  expect(Math.max(...jumps)).toBeLessThan(0x7fff * 0.06) // the steepest step of the wave
  const decoded = decodePcm(encodePcm(Int16Array.of(0, 0x4000, -0x8000)))
  expect([...decoded]).toEqual([0, 0.5, -1])
  expect(levelOf(new Float32Array(8))).toBe(0)
})

test('sound that is not PCM, or has an absurd rate, is not played', () => {
  expect(rateOf('audio/pcm;rate=24000')).toBe(24_000)
  expect(rateOf('audio/pcm')).toBe(24_000)
  expect(rateOf('audio/pcm;rate=1')).toBeUndefined()
  expect(rateOf('text/html')).toBeUndefined()
  expect(decodePcm('%%%')).toHaveLength(0)
})
