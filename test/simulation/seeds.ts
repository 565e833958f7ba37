// Many seeds in one test: which failed, and what happened in them.
import { happenedIn, kinds } from './coverage.ts'
import { replayCommand, showVerdict } from './show.ts'
import { simulate } from './simulate.ts'

export interface Tally {
  /** For each seed that failed: how to run it again, and what was wrong. */
  readonly failed: readonly string[]
  /** In how many seeds each kind of thing happened. */
  readonly happened: ReadonlyMap<string, number>
  readonly never: readonly string[]
}

export async function runSeeds(seeds: Iterable<number>): Promise<Tally> {
  const failed: string[] = []
  const happened = new Map<string, number>()
  for (const seed of seeds) {
    const { evidence, violations } = await simulate(seed)
    if (violations.length) failed.push(`${replayCommand(seed)}\n${showVerdict(violations)}`)
    for (const kind of happenedIn(evidence)) happened.set(kind, (happened.get(kind) ?? 0) + 1)
  }
  return { failed, happened, never: [...kinds.keys()].filter((kind) => !happened.has(kind)) }
}

export function* range(from: number, count: number): Iterable<number> {
  for (let seed = from; seed < from + count; seed++) yield seed
}
