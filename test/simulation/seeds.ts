// Runs many seeds and counts failures and coverage.
import { happenedIn } from './coverage.ts'
import { replayCommand, showVerdict } from './show.ts'
import { simulate } from './simulate.ts'

/** Plain data, because workers send it to their parent process. */
export interface Tally {
  /** For each failed seed: the command that runs it again, and its violations. */
  readonly failed: readonly string[]
  /** The number of seeds that covered each kind of event. */
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
