import { expect, test } from 'vitest'
import type { ActiveRun } from '../run/active-run.ts'
import { RunList } from './run-list.ts'

/** The list looks at nothing else of a run. */
const run = (): ActiveRun => ({ place: 0 }) as ActiveRun

test('a run that leaves takes nobody else with it, in whatever order they leave', () => {
  const list = new RunList()
  const [a, b, c] = [run(), run(), run()]
  for (const one of [a, b, c]) list.add(one)
  list.delete(b)
  expect(new Set(list.all())).toEqual(new Set([a, c]))
  list.delete(c)
  list.delete(a)
  expect(list.size).toBe(0)
})

test('one that was never in it, or has left, changes nothing', () => {
  const list = new RunList()
  const [a, b, stranger] = [run(), run(), run()]
  list.add(a)
  list.add(b)
  list.delete(stranger)
  expect(list.all()).toEqual([a, b])
  list.delete(a)
  list.delete(a)
  expect(list.all()).toEqual([b])
})
