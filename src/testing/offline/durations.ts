import { stem } from './words.ts'

const seconds: ReadonlyMap<string, number> = new Map(
  (
    [
      ['millisecond', 0.001],
      ['ms', 0.001],
      ['second', 1],
      ['sec', 1],
      ['minute', 60],
      ['min', 60],
      ['hour', 3_600],
      ['day', 86_400],
      ['week', 604_800],
    ] as const
  ).map(([unit, size]) => [stem(unit), size]),
)

/** How long a unit of time is, by its stem; undefined for anything else. */
export function secondsIn(unit: string | undefined): number | undefined {
  return unit === undefined ? undefined : seconds.get(unit)
}
