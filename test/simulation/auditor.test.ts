// The auditor is worth something only if it finds what is there: bugs are put in, and each is found.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from 'toolwright'
import { expect, test } from 'vitest'
import type { Violation } from './audit/violation.ts'
import { audit } from './auditor.ts'
import {
  bodyBeforeIntent,
  deltasOutOfOrder,
  forgottenCut,
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
import type { Between, Lies } from './process.ts'
import { simulate } from './simulate.ts'

type Bug = [what: string, bug: Between | Lies, promise: Violation['promise'], says: RegExp]

const bugs: readonly Bug[] = [
  ['a body that runs before its intent is stored', bodyBeforeIntent, 'P3', /began without a stored intent/],
  ['an approval that is used twice', usedApproval, 'P5', /the yes was used up/],
  ['a result that is lost beside another', lostSibling, 'P7', /has no final response/],
  ['state in another order than the calls', deltasOutOfOrder, 'P7', /and its calls wrote/],
  ['the wrong child of a workflow', wrongChild, 'P7', /after a later child has begun/],
  ['an answer that counts for a request recorded after it', postedJustNow, 'P5', /takes an answer from before/],
  ['a lease that a clock set back prolongs', { leasesOnWallClock: true }, 'P2', /is refused the session/],
  ['a lease that a clock set forward ends', { leasesOnWallClock: true }, 'P2', /before its time/],
  ['an answer that is taken after its time', { ignoresClockSteps: true }, 'P5', /sent the answer after its time/],
  ['a result that is stored although it is too large', wholeResults, 'P10', /bytes of result/],
  ['arguments that are stored although they are too large', forgottenCut, 'P10', /bytes of arguments/],
  ['a call whose id is another call’s', repeatedId, 'P7', /is both/],
  ['replies that are not counted', uncountedReplies, 'P10', /replies in e-/],
  ['a call that a plugin has changed', tamperedCalls, 'P6', /is what a plugin made of it/],
  ['the lost handle of cancelled work', lostHandle, 'P4', /was started, and is answered/],
  ['cancelled work whose tool is not told', { forgetsCancel: true }, 'P4', /its tool was not told/],
  ['an approval that is taken without its arguments', { dropsEdits: true }, 'P5', /nobody who may had said yes/],
]

test.each(bugs)('%s is found', { timeout: 60_000 }, find)

async function find(_what: string, bug: Bug[1], promise: string, says: RegExp): Promise<void> {
  const seed = await firstCaught(typeof bug === 'function' ? { between: bug } : bug, promise, says)
  expect(seed, 'a seed in which it is found').toBeDefined()
  const honest = await simulate(seed as number)
  expect(honest.violations, 'the same without the bug').toEqual([])
}

async function firstCaught(lies: Lies, promise: string, says: RegExp): Promise<number | undefined> {
  for (let seed = 0; seed < 1_000; seed++) {
    const { violations } = await simulate(seed, lies)
    if (violations.some((one) => one.promise === promise && says.test(one.says))) return seed
  }
  return undefined
}

test('an answer to a request that was recorded as expired is found', { timeout: 60_000 }, async () => {
  for (let seed = 0; ; seed++) {
    const { evidence } = await simulate(seed)
    const doctored = evidence.sessions.map((session) => ({ ...session, entries: answeredLate(session.entries) }))
    const found = audit({ ...evidence, sessions: doctored }).map(({ says }) => says)
    if (doctored.every(({ entries }, at) => entries.length === evidence.sessions[at]?.entries.length)) continue
    expect(found).toContainEqual(expect.stringContaining('after it was recorded as expired'))
    return
  }
})

/** The log with an approval of what has expired, at its end. */
function answeredLate(entries: readonly Entry[]): Entry[] {
  const denied = entries.flatMap(({ record }) => (record?.type === 'denial' ? [record.requestId] : []))
  const asked = entries.find(({ record }) => record?.type === 'request' && record.id === denied[0])?.record
  const first = entries[0]?.event
  if (asked?.type !== 'request' || !first) return [...entries]
  const answer = { id: asked.id, name: 'adk_request_confirmation', response: { confirmed: true } }
  const content = { role: 'user' as const, parts: [{ functionResponse: answer }] }
  const event = { ...first, id: 'late', invocationId: asked.invocationId, content }
  return [...entries, { seq: entries.length + 1, event }]
}

test('the auditor shares no code with what it judges, nor with what makes the evidence', () => {
  const files = globSync(join(import.meta.dirname, '{auditor.ts,audit/*.ts}'))
  expect(files.length).toBeGreaterThan(10)
  const imports = files.flatMap((file) => readFileSync(file, 'utf8').match(/^import [^']*'[^']+'/gm) ?? [])
  const own = /^import .*'(\.\/audit\/[\w-]+\.ts|\.\/[\w-]+\.ts|\.\.\/(evidence|plan)\.ts)'$/
  const allowed = /^import type .*'toolwright'$|'toolwright\/testing'$/
  expect(imports.filter((line) => !own.test(line) && !allowed.test(line))).toEqual([])
})
