// Recovery times as counts in ranges, so that those of many workers can be added, and a report has the same size for ever.

/** How many recoveries took at most this long, and longer than the entry before. Sorted, without empty ranges. */
export type RecoveryTimes = readonly { readonly upToMs: number; readonly count: number }[]

/** The ends of the ranges, in milliseconds. Longer times count as the last one, a day. */
const RANGES = [
  50, 100, 150, 250, 400, 600, 1_000, 1_500, 2_500, 4_000, 6_000, 8_000, 10_000, 12_500, 15_000, 20_000, 25_000, 30_000,
  45_000, 60_000, 90_000, 120_000, 300_000, 900_000, 3_600_000, 86_400_000,
] as const
const LONGEST = 86_400_000

/** The times with one more. */
export function withRecovery(times: RecoveryTimes, ms: number): RecoveryTimes {
  return mergeRecoveries([times, [{ upToMs: RANGES.find((end) => ms <= end) ?? LONGEST, count: 1 }]])
}

/** The times of several workers, also of versions with other ranges. */
export function mergeRecoveries(all: readonly RecoveryTimes[]): RecoveryTimes {
  const counts = new Map<number, number>()
  for (const { upToMs, count } of all.flat()) counts.set(upToMs, (counts.get(upToMs) ?? 0) + count)
  return [...counts].sort(([one], [other]) => one - other).map(([upToMs, count]) => ({ upToMs, count }))
}

/** The number of times. */
export function countRecoveries(times: RecoveryTimes): number {
  return times.reduce((sum, { count }) => sum + count, 0)
}

/** A time that this share of the recoveries did not exceed, in milliseconds. Undefined without recoveries. */
export function recoveryPercentile(times: RecoveryTimes, share: number): number | undefined {
  const wanted = share * countRecoveries(times)
  let seen = 0
  return times.find(({ count }) => {
    seen += count
    return seen >= wanted
  })?.upToMs
}
