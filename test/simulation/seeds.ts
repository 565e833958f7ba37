// Many seeds in one test, and what to do about those that fail.
import { replayCommand, showVerdict } from './show.ts'
import { type Report, simulate } from './simulate.ts'

export interface Tally {
  /** One line for each seed that failed, with how to run it again. */
  readonly failed: readonly string[]
}

export async function runSeeds(seeds: Iterable<number>, look: (report: Report) => void = () => {}): Promise<Tally> {
  const failed: string[] = []
  for (const seed of seeds) {
    const report = await simulate(seed)
    look(report)
    if (report.violations.length) failed.push(`${replayCommand(seed)}\n${showVerdict(report.violations)}`)
  }
  return { failed }
}

export function* range(from: number, count: number): Iterable<number> {
  for (let seed = from; seed < from + count; seed++) yield seed
}
