import { describe, expect, test } from 'vitest'
import type { LiveEvent } from '../../../engine/model/live-event.ts'
import { LiveEventQueue } from './event-queue.ts'

const MEGABYTE = 1024 * 1024
const audio = (bytes = 1): LiveEvent => ({ type: 'audio', data: new Uint8Array(bytes), mimeType: 'audio/pcm' })
const text = (words: string): LiveEvent => ({ type: 'text', text: words })
const turn: LiveEvent = { type: 'turnComplete' }

interface Queue {
  readonly queue: LiveEventQueue
  /** What `onFull` was called with. */
  readonly full: boolean[]
}

function createQueue(): Queue {
  const full: boolean[] = []
  return { full, queue: new LiveEventQueue((isFull) => full.push(isFull)) }
}

async function take(queue: LiveEventQueue, count: number): Promise<LiveEvent[]> {
  const events: LiveEvent[] = []
  for (let at = 0; at < count; at++) {
    const event = await queue.take()
    if (event) events.push(event)
  }
  return events
}

/** Ends the queue and takes everything that is left. */
async function drain(queue: LiveEventQueue): Promise<LiveEvent[]> {
  queue.end({ type: 'closed', reason: 'test' })
  const events: LiveEvent[] = []
  for (let event = await queue.take(); event; event = await queue.take()) events.push(event)
  return events.slice(0, -1)
}

test('passes events on in order, also those that come while the consumer waits', async () => {
  const { queue } = createQueue()
  queue.push(text('a'))
  expect(await queue.take()).toEqual(text('a'))
  const waiting = queue.take()
  queue.push(text('b'))
  expect(await waiting).toEqual(text('b'))
})

test('ends after its last event and takes no more', async () => {
  const { queue } = createQueue()
  const waiting = queue.take()
  queue.end({ type: 'closed', reason: 'over' })
  queue.push(turn)
  expect([await waiting, await queue.take()]).toEqual([{ type: 'closed', reason: 'over' }, undefined])
})

test('keeps the order over thousands of events', async () => {
  const { queue } = createQueue()
  const seen: LiveEvent[] = []
  for (let at = 0; at < 5_000; at++) {
    queue.push(text(`${at}`))
    if (at % 3) seen.push(...(await take(queue, 1)))
  }
  seen.push(...(await drain(queue)))
  expect(seen).toEqual(Array.from({ length: 5_000 }, (_, at) => text(`${at}`)))
})

describe('a consumer that is behind', () => {
  test('stops the network at 2 MiB of audio, and starts it again below half a mebibyte', async () => {
    const { queue, full } = createQueue()
    for (let at = 0; at < 8; at++) queue.push(audio(MEGABYTE / 4))
    expect(full).toEqual([])
    queue.push(audio(1))
    expect(full).toEqual([true])
    await take(queue, 6)
    expect(full).toEqual([true])
    await take(queue, 1)
    expect(full).toEqual([true, false])
  })

  test('stops the network for text as for audio', () => {
    const { queue, full } = createQueue()
    queue.push(text('x'.repeat(MEGABYTE + 1)))
    expect(full).toEqual([true])
  })

  test('loses the oldest audio above 16 MiB, and learns how much', async () => {
    const { queue } = createQueue()
    for (let at = 0; at < 17; at++) queue.push(audio(MEGABYTE))
    const [lagged, ...kept] = await drain(queue)
    expect(lagged).toEqual({ type: 'lagged', dropped: 9 })
    expect(kept).toHaveLength(8)
  })

  test('loses the oldest deltas above 20,000 events, and nothing else', async () => {
    const { queue } = createQueue()
    queue.push(turn)
    for (let at = 0; at < 20_000; at++) queue.push(text(`${at}`))
    const [lagged, first, second] = await drain(queue)
    expect([lagged, first, second]).toEqual([{ type: 'lagged', dropped: 10_000 }, turn, text('10000')])
  })

  test('loses the oldest of all events if there are too many, but no request and no error', async () => {
    const { queue } = createQueue()
    const error: LiveEvent = { type: 'error', errorCode: 'MODEL_ERROR', message: 'no' }
    queue.push(error)
    for (let at = 0; at < 60_000; at++) queue.push(turn)
    const [lagged, first, ...more] = await drain(queue)
    expect([lagged?.type, first]).toEqual(['lagged', error])
    expect(more.length).toBeLessThan(20_000)
  })

  test('learns of each gap once', async () => {
    const { queue } = createQueue()
    for (let at = 0; at < 17; at++) queue.push(audio(MEGABYTE))
    expect(await take(queue, 2)).toMatchObject([{ type: 'lagged' }, { type: 'audio' }])
    for (let at = 0; at < 10; at++) queue.push(audio(MEGABYTE))
    expect(await take(queue, 2)).toMatchObject([{ type: 'lagged' }, { type: 'audio' }])
  })
})

describe('an interruption', () => {
  test('drops the audio that waits, and nothing else', async () => {
    const { queue } = createQueue()
    for (const event of [audio(), text('a'), audio(), turn]) queue.push(event)
    queue.dropAudio()
    expect(await drain(queue)).toEqual([text('a'), turn])
  })

  test('starts the network again', () => {
    const { queue, full } = createQueue()
    queue.push(audio(3 * MEGABYTE))
    queue.dropAudio()
    expect(full).toEqual([true, false])
  })

  test('does not start the network while text still waits', () => {
    const { queue, full } = createQueue()
    queue.push(text('x'.repeat(2 * MEGABYTE)))
    queue.push(audio(MEGABYTE))
    queue.dropAudio()
    expect(full).toEqual([true])
  })
})
