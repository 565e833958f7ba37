import { expect, test } from 'vitest'
import { type Progress, progressSender } from './progress.ts'

test('progress is sent with values that increase', () => {
  const sent: Progress[] = []
  const send = progressSender(async (progress) => void sent.push(progress))
  for (const value of [0, 'loading', { progress: 50, total: 100, message: 'half' }, 20, { rows: 3 }, Number.NaN])
    send(value)
  expect(sent).toEqual([
    { progress: 0 },
    { progress: 1, message: 'loading' },
    { progress: 50, total: 100, message: 'half' },
    { progress: 51 },
    { progress: 52, message: '{"rows":3}' },
    { progress: 53, message: 'null' },
  ])
})

test('a client that does not read gets no more than 100 notifications, and a client that reads gets all', async () => {
  let count = 0
  const stalled = progressSender(() => {
    count++
    return new Promise(() => {})
  })
  for (let at = 0; at < 10_000; at++) stalled(at)
  expect(count).toBe(100)
  let read = 0
  const reading = progressSender(async () => void read++)
  for (let at = 0; at < 300; at++) {
    reading(at)
    await Promise.resolve()
    await Promise.resolve()
  }
  expect(read).toBe(300)
})

test('a client that has gone does not fail the call', async () => {
  const send = progressSender(() => Promise.reject(new Error('gone')))
  send(1)
  await new Promise((resolve) => setImmediate(resolve)) // an unhandled rejection would fail the test
})
