import { expect, test } from 'vitest'
import type { CrashStore } from './crash-store.ts'
import { createCrashWorld } from './crash-world.ts'
import { killAtRandom } from './random-kills.ts'

/** With those of test/scenarios/kill-random.test.ts, 200 on two stores. More of them: `npm run torture`. */
const KILLS = 80

/** Kills processes at random on a store. */
export function testRandomKills(store: CrashStore): void {
  const seed = Date.now() % 1_000_000
  const command = `npm run torture -- --store ${store.name.toLowerCase()} --kills ${KILLS} --seed ${seed}`
  test(`${KILLS} random kills on ${store.name} lose, double and orphan nothing (${command})`, {
    timeout: 300_000,
  }, async () => {
    await using world = await createCrashWorld()
    const killed = new Set<string>()
    const report = await killAtRandom(world, {
      store: store.open(world, 'random'),
      name: 'random',
      kills: KILLS,
      seed,
      onKill: ({ type }) => killed.add(type),
    })
    expect(report.violations).toEqual([])
    expect(killed, 'processes killed themselves, and were killed by another one').toEqual(new Set(['died', 'killed']))
    expect(report.effects).toBeGreaterThan(KILLS)
  })
}
