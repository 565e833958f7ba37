import { expect, test } from 'vitest'
import type { ActiveRun } from './active-run.ts'
import { ActiveRuns } from './run-factory.ts'

/** A run with the members that ActiveRuns reads. */
const run = (userId: string, sessionId: string): ActiveRun => ({ userId, sessionId }) as ActiveRun

test('ActiveRuns keeps the other runs, of the same session and of other sessions, when a run is deleted', () => {
  const runs = new ActiveRuns()
  const [a, b, c] = [run('ada', 's1'), run('ada', 's1'), run('ada', 's2')]
  for (const one of [a, b, c]) runs.add(one)
  runs.delete(b)
  expect(runs.all()).toEqual([a, c])
  runs.delete(c)
  runs.delete(a)
  expect(runs.all()).toEqual([])
})

test('ActiveRuns changes nothing when a run that is not listed is deleted', () => {
  const runs = new ActiveRuns()
  const [a, b] = [run('ada', 's1'), run('ada', 's2')]
  runs.add(a)
  runs.add(b)
  runs.delete(run('ada', 's1'))
  runs.delete(run('ada', 's3'))
  expect(runs.all()).toEqual([a, b])
  runs.delete(a)
  runs.delete(a)
  expect(runs.all()).toEqual([b])
})

test('ActiveRuns finds the runs of one user only, when two users have sessions with the same id', () => {
  const runs = new ActiveRuns()
  const [ada, bob] = [run('ada', 's1'), run('bob', 's1')]
  runs.add(ada)
  runs.add(bob)
  expect(runs.of({ userId: 'bob', sessionId: 's1' })).toEqual([bob])
  expect(runs.of({ userId: 'eve', sessionId: 's1' })).toEqual([])
})
