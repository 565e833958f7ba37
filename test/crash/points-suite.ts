// kill -9 at every point of every shape of a run. A new process goes on, and an auditor looks at what is left.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { audit } from './audit/audit.ts'
import { callsOf, countLines, type Evidence } from './audit/evidence.ts'
import { outcomeOf } from './audit/find-wrong-effects.ts'
import type { CrashStore } from './crash-store.ts'
import { type CrashWorld, createCrashWorld } from './crash-world.ts'
import { type KillPoint, killPointNames, killPoints, neverReached, type Shape, shapes } from './kill-points.ts'
import { promisedOutcome } from './promised-outcome.ts'
import { openRawStore } from './rows/open-raw-store.ts'
import { toolNames } from './tool-names.ts'
import type { DeskOptions } from './victim/desk.ts'

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

type VictimDesk = Pick<DeskOptions, 'app' | 'shape' | 'store'>

/** A background call of a dead process is settled when its time is over. */
const LATER_MS = 120_000

/** Tests every point that the shapes come to on a store. */
export function testKillPoints(store: CrashStore): void {
  let world: CrashWorld
  beforeAll(async () => {
    world = await createCrashWorld()
  })
  afterAll(() => world[Symbol.asyncDispose]())
  const newDesk = (shape: Shape): VictimDesk => {
    const app = `${shape}-${randomUUID()}`
    return { app, shape, store: store.open(world, app) }
  }

  describe.each(shapes)(`kill -9 on ${store.name}`, { concurrent: true, timeout: 60_000 }, (shape) => {
    const reached = killPointNames.filter((point) => !(point in neverReached[shape]))
    for (const [point, nth] of [...reached.map((point) => [point, 1] as const), ...laterVisits[shape]]) {
      const promise = promisedOutcome(shape, point, nth)
      const moment = `${killPoints[point]}${laterTimes[nth - 1]}`
      test(`a ${shape} run that is killed ${moment} ${promise.title} (${point})`, async () => {
        const desk = newDesk(shape)
        const ending = await world.run({
          type: 'converse',
          desks: [{ ...desk, hasHistory: point === 'c15' }],
          death: `${point}:${nth}`,
        })
        expect(ending, 'the run has come to the point').toEqual({ type: 'died', diedAt: `${point}:${nth}` })

        const evidence = await recover(world, desk)
        expect(audit(evidence)).toEqual([])
        const paid = callsOf(evidence).find(({ call }) => call.name === toolNames[shape].at(-1))
        expect(paid ? outcomeOf(paid.responses[0]?.response ?? {}) : 'no call').toBe(promise.outcome)
        expect(promise.effects).toContain(countLines(evidence, 'effect', paid?.key ?? ''))
      })
    }

    const missing = Object.entries(neverReached[shape]).map(([point, reason]) => `${point}, because ${reason}`)
    const but = missing.length > 0 ? ` but ${missing.join(', and ')}` : ''
    test(`a ${shape} run comes to every kill point${but}`, async () => {
      const desk = newDesk(shape)
      const ending = await world.run({ type: 'converse', desks: [{ ...desk, hasHistory: true }], death: 'survey' })
      expect(ending.type === 'survived' && ending.survived.toSorted()).toEqual(reached.toSorted())
      expect(audit(await recover(world, desk))).toEqual([])
    })
  })
}

/** Starts a new process that continues a session, and reads what is left of it then. */
async function recover(world: CrashWorld, desk: VictimDesk): Promise<Evidence> {
  const raw = await openRawStore(desk.store)
  try {
    await raw.endLeases(desk.app)
    const desks = [{ ...desk, aheadMs: LATER_MS }]
    expect(await world.run({ type: 'finish', desks, death: 'never' })).toMatchObject({ type: 'survived' })
    expect(await raw.findDamage()).toEqual([])
    return { rows: await raw.rows(desk.app), lines: world.ledger.lines().filter(({ app }) => app === desk.app) }
  } finally {
    await raw.close()
  }
}
