import { expect, test } from 'vitest'
import fc from '../../core/base/fast-check.test-kit.ts'
import { SortedNames } from './sorted-names.ts'

test('SortedNames has the names that were added and not removed, in order, and reads any part of them', () => {
  const name = fc.oneof(fc.constantFrom('a', 'b', 'B', 'user:a', 'é', '\ud800', ''), fc.string({ unit: 'binary' }))
  const change = fc.record({ isAdded: fc.boolean(), name })
  fc.assert(
    fc.property(fc.array(change), fc.option(name, { nil: undefined }), fc.nat(5), (changes, after, limit) => {
      const names = new SortedNames()
      const known = new Set<string>()
      for (const { isAdded, name } of changes) {
        if (isAdded) {
          names.add(name)
          known.add(name)
        } else {
          names.delete(name)
          known.delete(name)
        }
      }
      const sorted = [...known].sort()
      expect(names.all).toEqual(sorted)
      const rest = sorted.filter((one) => after === undefined || one > after)
      expect(names.after(after, limit)).toEqual(rest.slice(0, limit))
    }),
  )
})
