import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FramePace } from './frame-pace.ts'

/** Reads frames, and lists them in the order in which they were read. */
function startPace() {
  const pace = new FramePace()
  const order: string[] = []
  const read = (text: string, principalId: string): Promise<string> =>
    pace.read(text, principalId, (frame) => {
      order.push(frame.slice(0, 5))
      return frame
    })
  return { order, read }
}

test('frames of one principal are read one after another, and those of others do not wait for them', async () => {
  const { order, read } = startPace()
  const ada = ['ada 1', 'ada 2', 'ada 3'].map((text) => read(text, 'ada'))
  await Promise.resolve()
  expect(order).toEqual(['ada 1'])
  expect(await read('eve 1', 'eve')).toBe('eve 1')
  expect(order).toEqual(['ada 1', 'eve 1'])
  await Promise.all(ada)
  expect(order).toEqual(['ada 1', 'eve 1', 'ada 2', 'ada 3'])
})

test('the next frame comes a turn later, also if the one before was read long ago in this turn', async () => {
  const { order, read } = startPace()
  await read('ada 1', 'ada')
  const second = read('ada 2', 'ada')
  for (let step = 0; step < 100; step++) await Promise.resolve()
  expect(order).toEqual(['ada 1'])
  await second
  expect(order).toEqual(['ada 1', 'ada 2'])
})

test('a pause follows a large frame', async () => {
  const { order, read } = startPace()
  await read('large'.repeat(20_000), 'ada')
  const until = performance.now() + 20
  while (performance.now() < until); // handling it takes a while
  const next = read('ada 2', 'ada')
  for (let turn = 0; turn < 10; turn++) await nextTurn()
  expect(order).toEqual(['large'])
  await next
  expect(performance.now() - until).toBeGreaterThan(30)
})

test('a frame that cannot be read does not keep the next one waiting', async () => {
  const pace = new FramePace()
  const fail = (): never => {
    throw new Error('not JSON')
  }
  await expect(pace.read('x', 'ada', fail)).rejects.toThrow('not JSON')
  expect(await pace.read('2', 'ada', Number)).toBe(2)
})
