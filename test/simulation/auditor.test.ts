// Injects bugs and checks that the auditor finds each of them.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from 'toolwright/store'
import { expect, test } from 'vitest'
import type { Violation } from './audit/violation.ts'
import { audit } from './auditor.ts'
import {
  bodyBeforeIntent,
  deltasOutOfOrder,
  forgottenCopies,
  forgottenCut,
  lostHandle,
  lostSibling,
  postedJustNow,
  repeatedId,
  requestsOfNoSession,
  runnableImports,
  tamperedCalls,
  uncountedReplies,
  usedApproval,
  visibleCopies,
  wholeResults,
  wrongChild,
} from './injected-bugs.test-kit.ts'
import type { InjectedBugs, StoreWrapper } from './process.ts'
import { simulate } from './simulate.ts'

type Bug = [what: string, bug: StoreWrapper | InjectedBugs, promise: Violation['promise'], says: RegExp]

const bugs: readonly Bug[] = [
  ['a body that runs before its intent is stored', bodyBeforeIntent, 'P3', /began without a stored intent/],
  ['an approval that is used twice', usedApproval, 'P5', /the approval was used up/],
  ['a lost result of a batch', lostSibling, 'P7', /has no final response/],
  ['state deltas that are not in call order', deltasOutOfOrder, 'P7', /and its calls wrote/],
  ['a workflow that runs the wrong child', wrongChild, 'P7', /after a later child has begun/],
  ['an answer that counts for a request recorded after it', postedJustNow, 'P5', /takes an answer from before/],
  [
    'a lease that lasts longer because the clock was set back',
    { leasesOnWallClock: true },
    'P2',
    /is refused the session/,
  ],
  [
    'a lease that ends early because the clock was set forward',
    { leasesOnWallClock: true },
    'P2',
    /before the lease ends/,
  ],
  [
    'an answer that is accepted after its request expired',
    { ignoresClockSteps: true },
    'P5',
    /sent the answer after its time/,
  ],
  ['a stored result that is too large', wholeResults, 'P10', /bytes of result/],
  ['stored arguments that are too large', forgottenCut, 'P10', /bytes of arguments/],
  ['a call with the id of another call', repeatedId, 'P7', /is both/],
  ['model replies that are not counted', uncountedReplies, 'P10', /replies in e-/],
  ['a call that a plugin has changed', tamperedCalls, 'P6', /was changed by a plugin/],
  ['a lost handle of cancelled work', lostHandle, 'P4', /was started, and is answered/],
  ['cancelled work whose tool does not receive cancel', { forgetsCancel: true }, 'P4', /its tool was not told/],
  [
    'a fork that others can claim before it is complete',
    visibleCopies,
    'P5',
    /claimed the copy before it was complete/,
  ],
  ['a fork that runs a call of its origin again', visibleCopies, 'P5', /in this copy \(fork\)/],
  ['an unfinished fork that stays', forgottenCopies, 'P5', /the unfinished copy was not removed/],
  ['an imported call that runs', runnableImports, 'P5', /in this copy \(import\)/],
  ['an approval that counts in copied rows', requestsOfNoSession, 'P5', /in this copy \(rows\)/],
  [
    'an approval whose edited arguments are dropped',
    { dropsEdits: true },
    'P5',
    /no owner of the session had approved/,
  ],
]

test.each(bugs)('the auditor finds %s', { timeout: 60_000 }, find)

async function find(_what: string, bug: Bug[1], promise: string, says: RegExp): Promise<void> {
  const seed = await firstCaught(typeof bug === 'function' ? { wrapStore: bug } : bug, promise, says)
  expect(seed, 'a seed in which the auditor finds the bug').toBeDefined()
  const honest = await simulate(seed as number)
  expect(honest.violations, 'violations of the same seed without the bug').toEqual([])
}

async function firstCaught(bugs: InjectedBugs, promise: string, says: RegExp): Promise<number | undefined> {
  for (let seed = 0; seed < 1_000; seed++) {
    const { violations } = await simulate(seed, bugs)
    if (violations.some((one) => one.promise === promise && says.test(one.says))) return seed
  }
  return undefined
}

test('the auditor finds an answer to a request that was recorded as expired', { timeout: 60_000 }, async () => {
  for (let seed = 0; ; seed++) {
    const { evidence } = await simulate(seed)
    const doctored = evidence.sessions.map((session) => ({ ...session, entries: answeredLate(session.entries) }))
    const found = audit({ ...evidence, sessions: doctored }).map(({ says }) => says)
    if (doctored.every(({ entries }, at) => entries.length === evidence.sessions[at]?.entries.length)) continue
    expect(found).toContainEqual(expect.stringContaining('after it was recorded as expired'))
    return
  }
})

/** The log with an approval of an expired request at its end. */
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

test('the auditor shares no code with the product or with the simulator', () => {
  const files = globSync(join(import.meta.dirname, '{auditor.ts,audit/*.ts}'))
  expect(files.length).toBeGreaterThan(10)
  const imports = files.flatMap((file) => readFileSync(file, 'utf8').match(/^import [^']*'[^']+'/gm) ?? [])
  const own = /^import .*'(\.\/audit\/[\w-]+\.ts|\.\/[\w-]+\.ts|\.\.\/(evidence|plan)\.ts)'$/
  const allowed = /^import type .*'toolwright(?:\/store)?'$|'toolwright\/testing'$/
  expect(imports.filter((line) => !own.test(line) && !allowed.test(line))).toEqual([])
})
