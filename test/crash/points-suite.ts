// kill -9 at every point of every shape of a run. A new process completes the run, and an auditor looks at what is left.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { audit } from './audit/audit.ts'
import { callsOf, countLines } from './audit/evidence.ts'
import { outcomeOf } from './audit/find-wrong-effects.ts'
import type { CrashStore } from './crash-store.ts'
import { type CrashWorld, createCrashWorld } from './crash-world.ts'
import { type Killed, killAndRecover, type Victim } from './kill-and-recover.ts'
import { type KillPoint, killPointNames, killPoints, neverReached, type Shape, shapes } from './kill-points.ts'
import { promisedOutcome } from './promised-outcome.ts'
import { toolNames } from './tool-names.ts'

/** Points that a shape comes to more than once. */
const laterVisits: { readonly [S in Shape]: readonly (readonly [KillPoint, nth: number])[] } = {
  single: [['c2', 2]],
  parallel: [
    ['c6', 3],
    ['c7', 4],
  ],
  gated: [
    ['c2', 2],
    ['c14', 2],
  ],
  'long-running': [
    ['c8', 2],
    ['c14', 2],
  ],
  nested: [
    ['c2', 2],
    ['c4', 2],
    ['c9', 2],
  ],
  background: [
    ['c8', 2],
    ['c14', 2],
  ],
  live: [['c7', 2]],
}

const laterTimes = ['', ', the second time,', ', the third time,', ', the fourth time,']

/** Tests every point that the shapes come to on a store. */
export function testKillPoints(store: CrashStore): void {
  let world: CrashWorld
  beforeAll(async () => {
    world = await createCrashWorld()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  describe.each(shapes)(`kill -9 on ${store.name}`, (shape) => {
    const points = killPointNames.filter((point) => !(point in neverReached[shape]))
    const visits = [...points.map((point) => [point, 1] as const), ...laterVisits[shape]]
    const killed = new Map<string, Killed>()
    beforeAll(async () => {
      const deaths = [...visits.map(([point, nth]) => `${point}:${nth}`), 'survey']
      const victims = deaths.map((death) => newVictim(shape, death))
      const results = await killAndRecover(world, victims)
      deaths.forEach((death, at) => {
        killed.set(death, results[at] as Killed) // one for each victim
      })
    }, 240_000)

    for (const [point, nth] of visits) {
      const promise = promisedOutcome(shape, point, nth)
      const moment = `${killPoints[point]}${laterTimes[nth - 1]}`
      test(`a ${shape} run that is killed ${moment} ${promise.title} (${point})`, () => {
        const { ending, evidence } = expectRecovered(killed.get(`${point}:${nth}`))
        expect(ending, 'the run has come to the point').toEqual({ type: 'died', diedAt: `${point}:${nth}` })
        const paid = callsOf(evidence).find(({ call }) => call.name === toolNames[shape].at(-1))
        expect(paid ? outcomeOf(paid.responses[0]?.response ?? {}) : 'no call').toBe(promise.outcome)
        expect(promise.effects).toContain(countLines(evidence, 'effect', paid?.key ?? ''))
      })
    }

    const missing = Object.entries(neverReached[shape]).map(([point, reason]) => `${point}, because ${reason}`)
    const but = missing.length > 0 ? ` but ${missing.join(', and ')}` : ''
    test(`a ${shape} run comes to every kill point${but}`, () => {
      const { ending } = expectRecovered(killed.get('survey'))
      expect(ending.type === 'survived' && ending.survived.toSorted()).toEqual(points.toSorted())
    })
  })

  const newVictim = (shape: Shape, death: string): Victim => {
    const app = `${shape}-${randomUUID()}`
    // a checkpoint is stored when the history is long
    const hasHistory = death === 'survey' || death.startsWith('c15')
    return { desk: { app, shape, store: store.open(world, app), hasHistory }, death }
  }
}

/** The new process has done all work, and the auditor finds nothing. */
function expectRecovered(killed: Killed | undefined): Killed {
  if (!killed) throw new Error('No victim was killed.')
  expect(killed.recovery).toMatchObject({ type: 'survived' })
  expect(killed.damage).toEqual([])
  expect(audit(killed.evidence)).toEqual([])
  return killed
}
