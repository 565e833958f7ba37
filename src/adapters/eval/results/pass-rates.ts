// Reliability over repeated runs of cases.

/** How often a case was run, and how often it passed. */
export interface Trials {
  /** The number of runs. */
  readonly trials: number
  /** The number of runs that passed. */
  readonly passed: number
}

/**
 * pass^k: how likely k runs of a case all pass, estimated from n runs with c successes as C(c, k) / C(n, k), and averaged over cases.
 * pass^1 is pass@1. Undefined without cases, or if a case was run fewer than k times.
 */
export function passPower(cases: readonly Trials[], k: number): number | undefined {
  if (cases.length === 0 || cases.some(({ trials }) => trials < k)) return undefined
  let sum = 0
  for (const { trials, passed } of cases) {
    // the quotient as a product: binomials of large numbers would overflow
    let likely = 1
    for (let at = 0; at < k; at++) likely *= Math.max(0, passed - at) / (trials - at)
    sum += likely
  }
  return sum / cases.length
}
