import { describe, expect, test } from 'vitest'
import type { LiveInput, LiveInputReader } from '../../../engine/model/live-input.ts'
import { LiveInputHub } from './input-hub.ts'

const text = (words: string): LiveInput => ({ type: 'text', text: words })

async function readAll(reader: LiveInputReader): Promise<LiveInput[]> {
  const inputs: LiveInput[] = []
  for await (const input of reader) inputs.push(input)
  return inputs
}

describe('a reader', () => {
  test('gets what is sent after its subscription, until the session ends', async () => {
    const hub = new LiveInputHub()
    hub.push(text('before'))
    const reading = readAll(hub.subscribe())
    hub.push(text('a'))
    await Promise.resolve()
    hub.push(text('b'))
    hub.close()
    expect(await reading).toEqual([text('a'), text('b')])
  })

  test('gets everything that other readers get', async () => {
    const hub = new LiveInputHub()
    const readers = [hub.subscribe(), hub.subscribe()]
    hub.push(text('a'))
    hub.close()
    expect(await Promise.all(readers.map(readAll))).toEqual([[text('a')], [text('a')]])
  })

  test('that is too slow loses the oldest inputs and learns how many', async () => {
    const hub = new LiveInputHub()
    const reader = hub.subscribe()
    for (let at = 0; at < 300; at++) hub.push(text(`${at}`))
    hub.close()
    const [lagged, first, ...more] = await readAll(reader)
    expect([lagged, first]).toEqual([{ type: 'lagged', dropped: 44 }, text('44')])
    expect(more).toHaveLength(255)
  })

  test('keeps at most 16 MiB', async () => {
    const hub = new LiveInputHub()
    const reader = hub.subscribe()
    for (let at = 0; at < 20; at++)
      hub.push({ type: 'video', data: new Uint8Array(1024 * 1024), mimeType: 'image/png' })
    hub.close()
    expect((await readAll(reader)).map(({ type }) => type)).toEqual(['lagged', ...Array(16).fill('video')])
  })

  test('keeps its own copy of media: a microphone fills the same buffer again', async () => {
    const hub = new LiveInputHub()
    const reader = hub.subscribe()
    const data = new Uint8Array([1, 2])
    hub.push({ type: 'audio', data, mimeType: 'audio/pcm' })
    data.fill(9)
    hub.close()
    expect(await readAll(reader)).toMatchObject([{ data: new Uint8Array([1, 2]) }])
  })

  test('gets nothing more after its end', async () => {
    const hub = new LiveInputHub()
    const reader = hub.subscribe()
    hub.push(text('a'))
    reader.end()
    hub.push(text('b'))
    expect(await readAll(reader)).toEqual([text('a')])
  })

  test('that waits ends when its call is over', async () => {
    const hub = new LiveInputHub()
    const reader = hub.subscribe()
    const reading = readAll(reader)
    reader.end()
    expect(await reading).toEqual([])
  })

  test('that leaves its loop is forgotten', async () => {
    const hub = new LiveInputHub()
    const reader = hub.subscribe()
    hub.push(text('a'))
    for await (const input of reader) {
      expect(input).toEqual(text('a'))
      break
    }
    hub.push(text('b'))
    expect(await readAll(reader)).toEqual([])
  })

  test('that subscribes after the end of the session gets nothing', async () => {
    const hub = new LiveInputHub()
    hub.close()
    expect(await readAll(hub.subscribe())).toEqual([])
  })
})
