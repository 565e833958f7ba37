import { expect, test } from 'vitest'
import { createEvent, type Event } from '../../../core/event/event.ts'
import { EventQueue, MANY_PARTIALS, MAX_PARTIALS } from './event-queue.ts'

const partial = (text: string): Event => createEvent({ partial: true, content: { role: 'model', parts: [{ text }] } })
const whole = (id: string): Event => createEvent({ id })

test('EventQueue keeps stored events and drops partial events without a consumer', () => {
  const queue = new EventQueue()
  for (let n = 0; n < 10; n++) queue.push(partial('a'))
  queue.push(whole('1'))
  queue.open()
  queue.push(partial('b'))
  expect(queue.takeAll()).toEqual([whole('1'), partial('b')])
})

test('EventQueue makes a producer wait until a slow consumer has caught up', async () => {
  const queue = new EventQueue()
  queue.open()
  for (let n = 1; n < MANY_PARTIALS; n++) expect(queue.push(partial('a'))).toBeUndefined()
  const behind = queue.push(partial('a'))
  expect(behind).toBeInstanceOf(Promise)
  queue.takeNext()
  await behind
  expect(queue.backpressure()).toBeUndefined()
})

test('EventQueue drops the oldest partial events over the limit and no stored event', () => {
  const queue = new EventQueue()
  queue.open()
  queue.push(whole('first'))
  for (let n = 1; n <= 10 * MAX_PARTIALS; n++) queue.push(partial(`${n}`))
  queue.push(whole('last'))
  const events = queue.takeAll()
  expect(events.length).toBeLessThanOrEqual(MAX_PARTIALS + 2)
  expect([events[0]?.id, events.at(-1)?.id]).toEqual(['first', 'last'])
  expect(events.at(-2)?.content?.parts[0]?.text).toBe(`${10 * MAX_PARTIALS}`)
})

test('EventQueue keeps nothing after close and releases waiting producers', async () => {
  const queue = new EventQueue()
  queue.open()
  for (let n = 0; n < MANY_PARTIALS; n++) queue.push(partial('a'))
  const behind = queue.backpressure()
  queue.close()
  await behind
  queue.push(whole('1'))
  expect(queue.takeNext()).toBeUndefined()
})

test('EventQueue yields events in order to a consumer that is always behind', () => {
  const queue = new EventQueue()
  for (let n = 0; n < 10; n++) queue.push(whole(`${n}`))
  for (let n = 10; n < 5_000; n++) {
    queue.push(whole(`${n}`))
    expect(queue.takeNext()?.id).toBe(`${n - 10}`)
  }
})

test('EventQueue passes every event to listeners, read or not', () => {
  const queue = new EventQueue()
  const received: Event[] = []
  const stopListening = queue.listen((event) => received.push(event))
  queue.push(partial('a'))
  stopListening()
  queue.push(partial('b'))
  expect(received).toEqual([partial('a')])
})
