import { expect, test } from 'vitest'
import { Random } from './random.ts'

const some = (random: Random): number[] => Array.from({ length: 20 }, () => random.int(1_000))

test('the same seed gives the same numbers, another seed others', () => {
  expect(some(new Random(7))).toEqual(some(new Random(7)))
  expect(some(new Random(7))).not.toEqual(some(new Random(8)))
})

test('a fork goes its own way, whatever is taken from its parent later', () => {
  const [one, two] = [new Random(7), new Random(7)]
  const [fork, same] = [one.fork('a'), two.fork('a')]
  some(one)
  expect(some(fork)).toEqual(some(same))
  expect(some(new Random(7).fork('a'))).not.toEqual(some(new Random(7).fork('b')))
})

test('every choice comes up about as often as its weight says', () => {
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
