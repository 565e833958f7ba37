// The auditor is worth something only if it finds what is there: five bugs are put in, and each is found.
import { expect, test } from 'vitest'
import type { Violation } from './audit/violation.ts'
import { bodyBeforeIntent, deltasOutOfOrder, lostSibling, usedApproval, wrongChild } from './lies.test-kit.ts'
import type { Between } from './process.ts'
import { simulate } from './simulate.ts'

const bugs: readonly [what: string, between: Between, promise: Violation['promise'], says: RegExp][] = [
  ['a body that runs before its intent is stored', bodyBeforeIntent, 'P3', /began without a stored intent/],
  ['an approval that is used twice', usedApproval, 'P5', /the yes was used up/],
  ['a result that is lost beside another', lostSibling, 'P7', /has no final response/],
  ['state in another order than the calls', deltasOutOfOrder, 'P7', /and its calls wrote/],
  ['the wrong child of a workflow', wrongChild, 'P7', /after a later child has begun/],
]

test.each(bugs)('%s is found', { timeout: 60_000 }, async (_what, between, promise, says) => {
  const seed = await firstCaught(between, promise, says)
  expect(seed, 'a seed in which it is found').toBeDefined()
  const honest = await simulate(seed as number)
  expect(honest.violations, 'the same without the bug').toEqual([])
})

async function firstCaught(between: Between, promise: string, says: RegExp): Promise<number | undefined> {
  for (let seed = 0; seed < 400; seed++) {
    const { violations } = await simulate(seed, { between })
    if (violations.some((one) => one.promise === promise && says.test(one.says))) return seed
  }
  return undefined
}
