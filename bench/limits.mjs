// The limits for Toolwright, checked after every run that includes it. Times are ratios to the floor adapter in the same
// run, so that they hold on slow machines. Start-up time, packages and size are absolute.

/**
 * `median(adapter, scenario, metric)` is undefined without a measurement. `unit` says what the guard does with a limit: it allows a ratio
 * to be 1.5 times as large, does not judge milliseconds, because they depend on the machine, and takes anything else as it is.
 */
export const limits = [
  { scenario: 'S1', what: 'one call, times the floor', max: 8, unit: 'ratio', value: timesFloor('us') },
  { scenario: 'S2', what: '8 parallel calls, times the floor', max: 6, unit: 'ratio', value: timesFloor('us') },
  {
    scenario: 'S1k',
    what: 'one call, sessions kept, times the floor',
    max: 9,
    guard: 18, // 15.4 on 2026-11-18: it goes when the limit is met
    unit: 'ratio',
    value: timesFloor('us'),
  },
  {
    scenario: 'S2k',
    what: '8 parallel calls, sessions kept, times the floor',
    max: 7.5,
    unit: 'ratio',
    value: timesFloor('us'),
  },
  { scenario: 'S3', what: '50-call chain, times the floor', max: 7, unit: 'ratio', value: timesFloor('us') },
  { scenario: 'S3', what: 'steps 41-50 over steps 1-10', max: 1.1, unit: 'ratio', value: growth },
  { scenario: 'S4', what: 'turns 181-200, times the floor', max: 10, unit: 'ratio', value: timesFloor('late') },
  { scenario: 'S4', what: 'turns 181-200 over turns 41-60', max: 1.2, unit: 'ratio', value: growth },
  { scenario: 'S5', what: '1,000 tools, times our own S1', max: 1.15, unit: 'ratio', value: timesOneTool, needs: 'S1' },
  { scenario: 'S5', what: 'set-up with 1,000 tools, ms', max: 8, unit: 'ms', value: ours('setupMs') },
  { scenario: 'S6', what: '1,000 concurrent, times the floor', max: 4.5, unit: 'ratio', value: timesFloor('ms') },
  { scenario: 'S7', what: 'streaming a delta, times the floor', max: 3, unit: 'ratio', value: timesFloor('us') },
  { scenario: 'S8', what: 'import, ms over bare Node', max: 10, unit: 'ms', value: msOver('bare-node') },
  { scenario: 'S8', what: 'packages installed', max: 4, unit: 'packages', value: ours('packages') },
  { scenario: 'S8', what: 'MB installed', max: 6, unit: 'MB', value: ours('diskMB') },
  { scenario: 'S9', what: '8 tools of 20 ms, ms', max: 22, unit: 'ms', value: ours('ms') },
  { scenario: 'S10', what: 'first turn of a process, ms over the floor', max: 5, unit: 'ms', value: msOver('floor') },
]

/** How much a ratio may be over its limit before the guard fails: other machines, and other programs on them, move it. */
const GUARD_FACTOR = 1.5

/** One row per limit. A selected scenario without a result is over its limit. `guard` judges as the guard does. */
export function checkLimits(median, { scenarios, guard = false } = {}) {
  const asked = (scenario) => scenario === undefined || scenario === 'S8' || !scenarios || scenarios.includes(scenario)
  const allowed = ({ max, unit, guard: ceiling = max * GUARD_FACTOR }) =>
    !guard ? max : unit === 'ratio' ? ceiling : unit === 'ms' ? Infinity : max
  return limits
    .filter(({ scenario, needs }) => asked(scenario) && asked(needs))
    .map((limit) => {
      const measured = limit.value(median, limit.scenario)
      const max = allowed(limit)
      return { what: `${limit.scenario} ${limit.what}`, max, measured, over: !(measured <= max) }
    })
}

function timesFloor(metric) {
  return (median, scenario) => median('toolwright', scenario, metric) / median('floor', scenario, metric)
}

function growth(median, scenario) {
  return median('toolwright', scenario, 'late') / median('toolwright', scenario, 'early')
}

function timesOneTool(median) {
  return median('toolwright', 'S5', 'us') / median('toolwright', 'S1', 'us')
}

function msOver(adapter) {
  return (median, scenario) => median('toolwright', scenario, 'ms') - median(adapter, scenario, 'ms')
}

function ours(metric) {
  return (median, scenario) => median('toolwright', scenario, metric)
}
