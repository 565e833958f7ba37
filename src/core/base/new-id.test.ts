import { expect, test } from 'vitest'
import { newId } from './new-id.ts'

test('newId() creates unique ids that are safe in a path', () => {
  const ids = Array.from({ length: 10_000 }, newId)
  expect(new Set(ids).size).toBe(10_000)
  for (const id of ids) expect(id).toMatch(/^[a-z2-7]{26}$/)
})

test('newId() uses every letter at every position of an id', () => {
  const seen = Array.from({ length: 26 }, () => new Set<string>())
  for (let n = 0; n < 2_000; n++) for (const [at, letter] of [...newId()].entries()) seen[at]?.add(letter)
  for (const letters of seen) expect(letters.size).toBe(32)
})
