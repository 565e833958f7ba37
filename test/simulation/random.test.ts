import { expect, test } from 'vitest'
import { Random } from './random.ts'

const some = (random: Random): number[] => Array.from({ length: 20 }, () => random.int(1_000))

test('the random generator returns the same numbers for the same seed, and different numbers for another seed', () => {
  expect(some(new Random(7))).toEqual(some(new Random(7)))
  expect(some(new Random(7))).not.toEqual(some(new Random(8)))
})

test('a forked random generator does not depend on later numbers of its parent', () => {
  const [one, two] = [new Random(7), new Random(7)]
  const [fork, same] = [one.fork('a'), two.fork('a')]
  some(one)
  expect(some(fork)).toEqual(some(same))
  expect(some(new Random(7).fork('a'))).not.toEqual(some(new Random(7).fork('b')))
})

test('the random generator chooses values in proportion to their weights', () => {
  const random = new Random(1)
  const taken = Array.from({ length: 10_000 }, () =>
    random.weighted([
      [3, 'often'],
      [1, 'seldom'],
      [0, 'never'],
    ]),
  )
  const often = taken.filter((one) => one === 'often').length
  expect(often).toBeGreaterThan(7_200)
  expect(often).toBeLessThan(7_800)
  expect(taken).not.toContain('never')
})
