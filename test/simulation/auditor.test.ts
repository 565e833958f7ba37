// The auditor is worth something only if it finds what is there: bugs are put in, and each is found.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Violation } from './audit/violation.ts'
import { hasArgsLimits } from './features.ts'
import {
  bodyBeforeIntent,
  deltasOutOfOrder,
  forgottenCut,
  forgottenExpiry,
  lostHandle,
  lostSibling,
  postedJustNow,
  repeatedId,
  tamperedCalls,
  uncountedReplies,
  usedApproval,
  wholeResults,
  wrongChild,
} from './lies.test-kit.ts'
import type { Between } from './process.ts'
import { type SimulateOptions, simulate } from './simulate.ts'

type Bug = [what: string, bug: Between | SimulateOptions, promise: Violation['promise'], says: RegExp]

const bugs: readonly Bug[] = [
  ['a body that runs before its intent is stored', bodyBeforeIntent, 'P3', /began without a stored intent/],
  ['an approval that is used twice', usedApproval, 'P5', /the yes was used up/],
  ['a result that is lost beside another', lostSibling, 'P7', /has no final response/],
  ['state in another order than the calls', deltasOutOfOrder, 'P7', /and its calls wrote/],
  ['the wrong child of a workflow', wrongChild, 'P7', /after a later child has begun/],
  ['an answer that counts for a request recorded after it', postedJustNow, 'P5', /takes an answer from before/],
  ['a lease that a clock set back prolongs', { leasesOnWallClock: true }, 'P2', /is refused the session/],
  ['a lease that a clock set forward ends', { leasesOnWallClock: true }, 'P2', /before its time/],
  ['an expired request that a clock set back opens again', forgottenExpiry, 'P5', /after it was recorded as expired/],
  ['a result that is stored although it is too large', wholeResults, 'P10', /bytes of result/],
  ['a call whose id is another call’s', repeatedId, 'P7', /is both/],
  ['replies that are not counted', uncountedReplies, 'P10', /replies in e-/],
  ['a call that a plugin has changed', tamperedCalls, 'P6', /is what a plugin made of it/],
  ['the lost handle of cancelled work', lostHandle, 'P4', /was started, and is answered/],
  ['cancelled work whose tool is not told', { forgetsCancel: true }, 'P4', /its tool was not told/],
  ['an approval that is taken without its arguments', { dropsEdits: true }, 'P5', /nobody who may had said yes/],
]

test.each(bugs)('%s is found', { timeout: 60_000 }, find)

test.runIf(hasArgsLimits)('a call that runs although it is too large is found', { timeout: 60_000 }, () =>
  find('', forgottenCut, 'P10', /bytes of arguments|arguments it must not get/),
)

async function find(_what: string, bug: Bug[1], promise: string, says: RegExp): Promise<void> {
  const seed = await firstCaught(typeof bug === 'function' ? { between: bug } : bug, promise, says)
  expect(seed, 'a seed in which it is found').toBeDefined()
  const honest = await simulate(seed as number)
  expect(honest.violations, 'the same without the bug').toEqual([])
}

async function firstCaught(options: SimulateOptions, promise: string, says: RegExp): Promise<number | undefined> {
  for (let seed = 0; seed < 1_000; seed++) {
    const { violations } = await simulate(seed, options)
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
