import { expect, test } from 'vitest'
import type { Entry } from '../../../src/core/event/event.ts'
import { describeEntry } from './describe-entry.ts'
import { filterEntries, type LogFilter } from './log-filter.ts'
import { stateHistory, stateItems } from './state-history.ts'

const event = (seq: number, fields: object): Entry => ({
  seq,
  event: { id: `e${seq}`, invocationId: 'i', author: 'desk', timestamp: seq, actions: {}, ...fields },
})
const delta = (seq: number, stateDelta: object): Entry => event(seq, { actions: { stateDelta } })
const says = (seq: number, ...parts: object[]): Entry =>
  event(seq, { content: { role: 'model', parts }, nodeInfo: { path: 'desk/helper@c1' } })

test('the history of a state key has each change with its value before and after', () => {
  const history = stateHistory([delta(1, { a: 1, __proto__x: 1 }), delta(2, { b: 'x' }), delta(3, { a: null })])
  expect(history.get('a')).toMatchObject([
    { eventId: 'e1', before: undefined, after: 1 },
    { eventId: 'e3', before: 1, after: null },
  ])
  expect(stateItems({ b: 'x', 'user:c': 2 }, history).map(({ key, value }) => [key, value])).toEqual([
    ['__proto__x', undefined],
    ['a', undefined],
    ['b', 'x'],
    ['user:c', 2],
  ])
})

test('the line of an imported event says that it was imported', () => {
  const paid = { content: { role: 'model', parts: [{ text: 'Paid.' }] } }
  expect(describeEntry(event(1, { ...paid, imported: true }))).toBe('imported · Paid.')
  expect(describeEntry(event(1, paid))).toBe('Paid.')
})

test('the line of a call has the start of its arguments', () => {
  const call = { functionCall: { id: 'c1', name: 'refund', args: { order: 'A-7', note: 'x'.repeat(500) } } }
  expect(describeEntry(says(1, call))).toMatch(/^call refund\(\{"order":"A-7","note":"x+…\)$/)
})

test('a state key that is called __proto__ is a key like any other', () => {
  const stateDelta: unknown = JSON.parse('{"__proto__":{"polluted":1}}')
  const history = stateHistory([delta(1, stateDelta as object)])
  expect([...history.keys()]).toEqual(['__proto__'])
})

test('the log filter finds text in any case, kinds of entries and errors', async () => {
  const record = { seq: 3, record: { type: 'denial', invocationId: 'i', requestId: 'r', reason: 'Late' } } as const
  const failed = says(4, { functionResponse: { id: 'c1', name: 'find', response: { error: 'no' } } })
  const entries = [says(1, { text: 'Hello World' }), delta(2, { a: 1 }), record, failed]
  const seqs = async (filter: LogFilter) => {
    let seqs: readonly number[] = []
    const signal = new AbortController().signal
    await filterEntries(entries, filter, { signal, onFound: (found) => (seqs = found.map(({ seq }) => seq)) })
    return seqs
  }
  expect(await seqs({ text: 'hello w', kind: 'all' })).toEqual([1])
  expect(await seqs({ text: '', kind: 'records' })).toEqual([3])
  expect(await seqs({ text: '', kind: 'errors' })).toEqual([4])
  expect(await seqs({ text: '', kind: 'state' })).toEqual([2])
  expect(await seqs({ text: 'late', kind: 'events' })).toEqual([])
})
