// The auditor is worth something only if it finds what is there: five bugs are put in, and each is found.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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

test('the auditor shares no code with what it judges, nor with what makes the evidence', () => {
  const files = globSync(join(import.meta.dirname, '{auditor.ts,audit/*.ts}'))
  expect(files.length).toBeGreaterThan(10)
  const imports = files.flatMap((file) => readFileSync(file, 'utf8').match(/^import [^']*'[^']+'/gm) ?? [])
  const own = /^import .*'(\.\/audit\/[\w-]+\.ts|\.\/[\w-]+\.ts|\.\.\/(evidence|plan)\.ts)'$/
  const allowed = /^import type .*'toolwright'$|'toolwright\/testing'$/
  expect(imports.filter((line) => !own.test(line) && !allowed.test(line))).toEqual([])
})
