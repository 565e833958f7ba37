import { expect, test } from 'vitest'
import { createEvent, type Event } from '../../../src/core/event/event.ts'
import { EMPTY_VIEW, type LogView, withEntries, withEvent } from './log-view.ts'

const text = (id: string, words: string, more: Partial<Event> = {}): Event =>
  createEvent({ id, author: 'desk', content: { role: 'model', parts: [{ text: words }] }, ...more })
const progress = (id: string, value: number): Event =>
  createEvent({
    id,
    author: 'desk',
    partial: true,
    content: {
      role: 'user',
      parts: [{ functionResponse: { id: 'c1', name: 'x', response: { progress: value }, willContinue: true } }],
    },
  })
const add = (events: readonly Event[], from: LogView = EMPTY_VIEW): LogView =>
  events.reduce((view, event) => withEvent(view, event, false), from)
const words = (view: LogView): unknown => view.streaming.map(({ content }) => content?.parts.map((part) => part.text))

test('streamed text grows, and the whole event replaces it', () => {
  const partial = { partial: true }
  const view = add([text('p1', 'Hel', partial), text('p2', 'lo', partial)])
  expect(words(view)).toEqual([['Hello']])
  const whole = add([text('e1', 'Hello')], view)
  expect(whole).toMatchObject({ streaming: [], recent: [{ id: 'e1' }] })
  expect([...whole.streamedAs]).toEqual([['e1', 'p1']])
})

test('agents in parallel stream side by side', () => {
  const view = add([
    text('p1', 'a', { partial: true, branch: 'x' }),
    text('p2', 'b', { partial: true, branch: 'y' }),
    text('p3', 'c', { partial: true, branch: 'x' }),
  ])
  expect(words(view)).toEqual([['ac'], ['b']])
})

test('progress of a call replaces the progress before, and its response ends it', () => {
  const view = add([progress('p1', 1), progress('p2', 2)])
  expect(view.streaming).toMatchObject([{ id: 'p2' }])
  const parts = [{ functionResponse: { id: 'c1', name: 'x', response: { result: 1 } } }]
  expect(add([createEvent({ id: 'e1', author: 'desk', content: { role: 'user', parts } })], view).streaming).toEqual([])
})

test('an event is in the log once, however often it arrives', () => {
  const event = text('e1', 'Hi')
  const view = add([event, event])
  expect(view.recent).toHaveLength(1)
  const page = [{ seq: 1, event }]
  const read = withEntries(withEntries(view, page), page)
  expect(read).toMatchObject({ entries: [{ seq: 1 }], recent: [] })
  expect(withEvent(read, event, true).recent).toEqual([])
})
