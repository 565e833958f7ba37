import { expect, test } from 'vitest'
import type { Content } from '../../../core/content/content.ts'
import { resultText, seedContents, toldMessage } from './seed.ts'

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] })
const model = (text: string): Content => ({ role: 'model', parts: [{ text }] })
const seed = (history: readonly Content[]): Content[] => seedContents(history, () => false)

test('tells calls, results and files as text', () => {
  const history: Content[] = [
    { role: 'user', parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
    { role: 'model', parts: [{ text: 'Let me see.' }, { functionCall: { id: '1', name: 'look', args: { at: 1 } } }] },
    { role: 'tool', parts: [{ functionResponse: { id: '1', name: 'look', response: { cat: true } } }] },
    { role: 'model', parts: [{ text: 'Hm, whiskers', thought: true }, { text: 'A cat.' }] },
  ]
  expect(seed(history)).toEqual([
    user('What is this?\n[image/png]'),
    model('Let me see.\n[Called look with {"at":1}]'),
    user('[Result of look: {"cat":true}]'),
    model('A cat.'),
  ])
})

test('leaves out messages without anything to tell', () => {
  expect(seed([user(''), { role: 'model', parts: [{ text: 'Hm', thought: true }] }, user('Hi')])).toEqual([user('Hi')])
})

test('says of a call that still runs that its result follows', () => {
  const result = (id: string, error: string): Content => ({
    role: 'tool',
    parts: [{ functionResponse: { id, name: 'look', response: { error } } }],
  })
  const history = [result('runs', 'No result was recorded.'), result('failed', 'No such cat.')]
  expect(seedContents(history, (id) => id === 'runs')).toEqual([
    user('[look is still running. Its result follows.]'),
    user('[Result of look: {"error":"No such cat."}]'),
  ])
})

test('keeps the progress that a call has reported', () => {
  const response = { status: 'pending', ticket: 7 }
  const history: Content[] = [{ role: 'tool', parts: [{ functionResponse: { id: 'runs', name: 'look', response } }] }]
  expect(seedContents(history, () => true)).toEqual([user('[Result of look: {"status":"pending","ticket":7}]')])
})

test('leaves the beginning of a long conversation out', () => {
  const history = Array.from({ length: 200 }, (_, at) => user(`${at} ${'x'.repeat(999)}`))
  const contents = seed(history)
  expect(contents.at(-1)).toEqual(history.at(-1))
  expect(contents.length).toBeGreaterThan(90)
  expect(JSON.stringify(contents).length).toBeLessThan(110_000)
})

test('leaves out the result of a call that is left out with the beginning of a long conversation', () => {
  const call: Content = {
    role: 'model',
    parts: [{ text: 'x'.repeat(60_000) }, { functionCall: { id: '1', name: 'look', args: {} } }],
  }
  const result: Content = { role: 'tool', parts: [{ functionResponse: { id: '1', name: 'look', response: { n: 1 } } }] }
  const long = model('y'.repeat(60_000))
  expect(seed([user('Look.'), call, result, long])).toEqual([long])
  expect(seed([user('Look.'), call, result])).toHaveLength(3)
})

test('never leaves out the latest message, even if it is too long', () => {
  const [content, ...more] = seed([user('before'), user(`Read this: ${'x'.repeat(150_000)}`)])
  expect(more).toEqual([])
  expect(content?.parts[0]?.text).toMatch(/^Read this: x+… \[The rest is left out.\]$/)
  expect(content?.parts[0]?.text?.length).toBeLessThan(100_100)
})

test('asks a model that spoke last to reply again, because models reply to users', () => {
  const again = user('[The connection was lost while you replied. Reply again.]')
  expect(toldMessage([user('a'), model('b')], true)).toMatchObject({ contents: [user('a'), model('b'), again] })
  expect(toldMessage([user('a'), model('b')], false)).toMatchObject({ contents: [user('a'), model('b')] })
  expect(toldMessage([model('b'), user('a')], true)).toMatchObject({ contents: [model('b'), user('a')] })
})

test('tells a late result with its call', () => {
  expect(resultText('look', { cat: true })).toBe('[The result of look has arrived: {"cat":true}]')
})
