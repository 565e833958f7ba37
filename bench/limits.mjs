// The limits for Toolwright, checked after every run that includes it. Times are ratios to the floor adapter in the same
// run, so that they hold on slow machines. Start-up time, packages and size are absolute.

/** `median(adapter, scenario, metric)` is undefined without a measurement. */
export const limits = [
  { scenario: 'S1', what: 'one call, times the floor', max: 12, value: timesFloor('us') },
  { scenario: 'S1', what: 'turns 1-1,000 over later ones', max: 3, value: warmUp },
  { scenario: 'S2', what: '8 parallel calls, times the floor', max: 7, value: timesFloor('us') },
  { scenario: 'S3', what: '50-call chain, times the floor', max: 10, value: timesFloor('us') },
  { scenario: 'S3', what: 'steps 41-50 over steps 1-10', max: 1.1, value: growth },
  { scenario: 'S4', what: 'turns 181-200, times the floor', max: 18, value: timesFloor('late') },
  { scenario: 'S4', what: 'turns 181-200 over turns 41-60', max: 1.2, value: growth },
  { scenario: 'S5', what: '1,000 tools, times our own S1', max: 1.15, value: timesOneTool, needs: 'S1' },
  {
    scenario: 'S5',
    what: 'set-up with 1,000 tools, ms',
    max: 10,
    value: (median) => median('toolwright', 'S5', 'setupMs'),
  },
  { scenario: 'S6', what: '1,000 concurrent, times the floor', max: 5, value: timesFloor('ms') },
  { scenario: 'S7', what: 'streaming a delta, times the floor', max: 4, value: timesFloor('us') },
  { scenario: 'S8', what: 'import, ms over bare Node', max: 15, value: importTime },
  { scenario: 'S8', what: 'packages installed', max: 4, value: (median) => median('toolwright', 'S8', 'packages') },
  { scenario: 'S8', what: 'MB installed', max: 12, value: (median) => median('toolwright', 'S8', 'diskMB') },
  { scenario: 'S9', what: '8 tools of 20 ms, ms', max: 22, value: (median) => median('toolwright', 'S9', 'ms') },
]

/** One row per limit. A selected scenario without a result is over its limit. */
export function checkLimits(median, scenarios) {
  const asked = (scenario) => scenario === undefined || scenario === 'S8' || !scenarios || scenarios.includes(scenario)
  return limits
    .filter(({ scenario, needs }) => asked(scenario) && asked(needs))
    .map(({ scenario, what, max, value }) => {
      const measured = value(median, scenario)
      return { what: `${scenario} ${what}`, max, measured, over: !(measured <= max) }
    })
}

function timesFloor(metric) {
  return (median, scenario) => median('toolwright', scenario, metric) / median('floor', scenario, metric)
}

function growth(median, scenario) {
  return median('toolwright', scenario, 'late') / median('toolwright', scenario, 'early')
}

function warmUp(median) {
  return median('toolwright', 'S1', 'firstUs') / median('toolwright', 'S1', 'us')
}

function timesOneTool(median) {
  return median('toolwright', 'S5', 'us') / median('toolwright', 'S1', 'us')
}

function importTime(median) {
  return median('toolwright', 'S8', 'ms') - median('bare-node', 'S8', 'ms')
}
