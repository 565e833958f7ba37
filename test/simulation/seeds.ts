// Many seeds: which failed, and what happened in them.
import { happenedIn } from './coverage.ts'
import { replayCommand, showVerdict } from './show.ts'
import { simulate } from './simulate.ts'

/** Data only: it crosses from one process to another. */
export interface Tally {
  /** For each seed that failed: how to run it again, and what was wrong. */
  readonly failed: readonly string[]
  /** In how many seeds each kind of thing happened. */
  readonly happened: { readonly [kind: string]: number }
}

export async function runSeeds(seeds: Iterable<number>): Promise<Tally> {
  const failed: string[] = []
  const happened: { [kind: string]: number } = {}
  for (const seed of seeds) {
    const { evidence, violations } = await simulate(seed)
    if (violations.length) failed.push(`${replayCommand(seed)}\n${showVerdict(violations)}`)
    for (const kind of happenedIn(evidence)) happened[kind] = (happened[kind] ?? 0) + 1
  }
  return { failed, happened }
}

export function* range(from: number, count: number): Iterable<number> {
  for (let seed = from; seed < from + count; seed++) yield seed
}
