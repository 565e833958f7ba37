import { expect, test } from 'vitest'
import { settle } from './link.test-kit.ts'
import { untilAborted } from './until-aborted.ts'

const { signal: never } = new AbortController()

test('returns the result of the work', async () => {
  await expect(untilAborted(Promise.resolve(7), never)).resolves.toBe(7)
})

test('throws the error of the work', async () => {
  await expect(untilAborted(Promise.reject(new Error('broken')), never)).rejects.toThrow('broken')
})

test('throws the reason of the signal, and passes on a result that comes later', async () => {
  const controller = new AbortController()
  const work = Promise.withResolvers<string>()
  const late: string[] = []
  const waiting = untilAborted(work.promise, controller.signal, (result) => late.push(result))
  controller.abort(new Error('stop'))
  await expect(waiting).rejects.toThrow('stop')
  work.resolve('late')
  await settle()
  expect(late).toEqual(['late'])
})

test('passes nothing on if the work was done before the signal aborts', async () => {
  const controller = new AbortController()
  const late: string[] = []
  await untilAborted(Promise.resolve('done'), controller.signal, (result) => late.push(result))
  controller.abort()
  await settle()
  expect(late).toEqual([])
})

test('ignores an error that comes after the signal aborted', async () => {
  const work = Promise.withResolvers<never>()
  await expect(untilAborted(work.promise, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
  work.reject(new Error('an unhandled rejection would fail the test'))
  await settle()
})
